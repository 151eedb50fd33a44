//! What a remote answers to a fetch: lines, and a pack in them.

use git::{Received, Refusal};
use git2::{Indexer, ObjectType, Odb};
use sha1_smol::Sha1;
use tempfile::TempDir;

/// The limit of `git` for an object, and for all of a pack.
const MAX_OBJECT_BYTES: usize = 64 << 20;
const MAX_PACK_BYTES: usize = 4 << 30;

const ID_BYTES: usize = 20;

pub fn packs(bytes: &[u8]) {
    let _ = check(bytes);
    let mut pack = bytes.to_vec();
    pack.extend(Sha1::from(bytes).digest().bytes());
    let mut answer = line(b"NAK\n");
    answer.extend(pack.chunks(100).flat_map(|piece| line(&[b"\x01", piece].concat())));
    answer.extend(b"0000");
    let in_lines = check(&answer);
    let alone = check(&[line(b"NAK\n"), pack.clone()].concat());
    assert!(
        in_lines.is_ok() == alone.is_ok() || !bytes.starts_with(b"PACK"),
        "{in_lines:?} in lines and {alone:?} alone"
    );
    if in_lines.is_ok() && bytes.len() > ID_BYTES {
        unpack(&pack);
    }
}

/// Whether an answer is accepted does not depend on how its bytes arrive; the reason may.
fn check(answer: &[u8]) -> Result<(), Refusal> {
    let whole = Received::default().check(answer);
    for size in [1, 5] {
        let mut received = Received::default();
        let pieces = answer.chunks(size).try_for_each(|piece| received.check(piece));
        assert_eq!(pieces.is_ok(), whole.is_ok(), "{pieces:?}, {size} bytes at a time, and {whole:?} at once");
    }
    whole
}

/// Frames a line as the protocol does.
fn line(content: &[u8]) -> Vec<u8> {
    [format!("{:04x}", content.len() + 4).as_bytes(), content].concat()
}

/// What was accepted is within the limits when libgit2 unpacks it.
fn unpack(pack: &[u8]) {
    let folder = TempDir::new().expect("a temporary folder");
    let packs = folder.path().join("pack");
    std::fs::create_dir(&packs).expect("a new folder");
    let mut indexer = Indexer::new(None, &packs, 0o600, false).expect("a new pack");
    if std::io::Write::write_all(&mut indexer, pack).is_err() || indexer.commit().is_err() {
        return;
    }
    let objects = Odb::new().expect("an empty store");
    objects.add_disk_alternate(folder.path().to_str().expect("a path in UTF-8")).expect("a folder of objects");
    let mut total = 0;
    let _ = objects.foreach(|id| {
        let (size, kind) = objects.read_header(*id).unwrap_or((0, ObjectType::Any));
        assert!(size <= MAX_OBJECT_BYTES, "a {kind} of {size} bytes");
        total += size;
        true
    });
    assert!(total <= MAX_PACK_BYTES, "{total} bytes");
}
