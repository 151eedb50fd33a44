use super::*;
use skillcell_tests::git_server::pack::{BLOB, Pack as Builder, TREE};

/// Frames a line as the protocol does.
fn line(content: &[u8]) -> Vec<u8> {
    [format!("{:04x}", content.len() + LENGTH_DIGITS).as_bytes(), content].concat()
}

/// An answer with this pack in pieces.
fn answer(pack: &[u8]) -> Vec<u8> {
    let mut answer = [line(b"shallow 1"), b"0000".to_vec(), line(b"NAK\n"), line(b"\x02working")].concat();
    answer.extend(pack.chunks(1_000).flat_map(|piece| line(&[b"\x01", piece].concat())));
    answer.extend(b"0000");
    answer
}

fn check(answer: &[u8]) -> Result<(), Refusal> {
    let whole = Received::default().check(answer);
    for size in [1, 7, 4_096] {
        let mut received = Received::default();
        let pieces = answer.chunks(size).try_for_each(|piece| received.check(piece));
        assert_eq!(pieces, whole, "the result depends on how the bytes arrive: {size} at a time");
    }
    whole
}

fn malformed(answer: &[u8]) -> &'static str {
    match check(answer) {
        Err(Refusal::Malformed(reason)) => reason,
        other => panic!("{other:?}"),
    }
}

fn sound_pack() -> Vec<u8> {
    let mut pack = Builder::default();
    let text = "A line of text.\n".repeat(10_000);
    let base = pack.object(BLOB, text.as_bytes());
    let changed = pack.changed(base, text.len(), 7);
    pack.changed(changed, text.len(), 8);
    pack.object(BLOB, b"");
    pack.object(TREE, b"");
    pack.finish()
}

#[test]
fn a_sound_pack_passes_in_lines_and_without() {
    assert_eq!(check(&answer(&sound_pack())), Ok(()));
    assert_eq!(check(&[line(b"NAK\n"), sound_pack()].concat()), Ok(()));
    assert_eq!(check(&answer(&Builder::default().finish())), Ok(()));
}

#[test]
fn whatever_libgit2_might_read_differently_is_refused() {
    let pack = sound_pack();
    let data = |bytes: &[u8]| line(&[b"\x01", bytes].concat());
    // libgit2 skips pieces of a pack until commits are acknowledged.
    assert_eq!(malformed(&[data(&pack[..40]), line(b"NAK\n"), data(&pack)].concat()), "its pack is interrupted");
    assert_eq!(malformed(&[answer(&pack), answer(&pack)].concat()), "something follows its pack");
    assert_eq!(malformed(&answer(&[pack.clone(), pack.clone()].concat())), "something follows its pack");
    for length in [b"0001", b"0004", b"+0ff", b" 0ff", b"PACK", b"<htm"] {
        let answer = [data(&pack[..40]), length.to_vec()].concat();
        assert_eq!(malformed(&answer), "it answers with a line of an invalid length");
    }
    assert_eq!(malformed(&answer(b"PACK\0\0\0\x04\0\0\0\0")), "it sends something that is not a pack");
    let mut damaged = pack;
    damaged[30] ^= 0xff;
    malformed(&answer(&damaged));
}

#[test]
fn a_delta_is_measured_by_its_result() {
    let mut pack = Builder::default();
    let base = pack.object(BLOB, &vec![0; 1 << 20]);
    pack.repeated(base, 1 << 20, 1 << 20, 65);
    let Err(Refusal::TooLarge(reason)) = check(&answer(&pack.finish())) else { panic!("it passed") };
    assert_eq!(reason, "it sends an object of 68157440 bytes, and the limit is 64 MiB");
    let mut pack = Builder::default();
    pack.delta(0, b"\xff");
    assert_eq!(malformed(&answer(&pack.finish())), "its pack has a delta without sizes");
}
