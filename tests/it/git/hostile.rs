//! Remotes that send little and mean much. Each is refused for a reason, and the files that were there are served.

use super::{Scene, forms, names, refresh_error, refresh_ok, text};
use skillcell_tests::git_server::pack::{BLOB, Pack, TREE, delta_bomb, delta_chain};
use skillcell_tests::git_server::{Fault, On};
use skillcell_tests::measure::peak_memory;

const MIB: usize = 1 << 20;

/// What the server may have at most: its own 150 MiB, and three objects of 64 MiB.
#[cfg(target_os = "linux")]
const MAX_PEAK_MIB: u64 = 400;

#[test]
#[cfg(target_os = "linux")]
fn a_small_pack_does_not_expand_in_memory() {
    let scene = Scene::new();
    let server = scene.http();
    let mut session = scene.launch(&server.url("skills")).start();
    refresh_ok(&mut session);
    let single = |kind: u8, size: usize| {
        let mut pack = Pack::default();
        pack.object(kind, &vec![0; size]);
        pack.finish()
    };
    let mut lying = Pack::default();
    lying.announced(BLOB, 100, &vec![0; 65 * MIB]);
    let mut countless = Pack::default();
    countless.object(BLOB, b"x");
    let cases = [
        ("a delta bomb", delta_bomb(), "it sends an object of 2139095040 bytes, and the limit is 64 MiB"),
        ("a file", single(BLOB, 65 * MIB), "it sends an object of 68157440 bytes, and the limit is 64 MiB"),
        ("a folder", single(TREE, 65 * MIB), "it sends an object of 68157440 bytes, and the limit is 64 MiB"),
        ("a chain of deltas", delta_chain(), "its objects have more than 4 GiB together"),
        ("a false size", lying.finish(), "an object of another size than announced"),
        ("a false count", countless.claiming(4_000_000_000), "it sends 4000000001 objects, and the limit is 500000"),
    ];
    for (number, (what, pack, expected)) in cases.into_iter().enumerate() {
        assert!(pack.len() < MIB, "{what}: {} bytes", pack.len());
        scene.upstream.push("main", &[("forms.md", &forms(&format!("Edition {number}.")))]);
        server.misbehave(On::Pack, Fault::Pack(pack));
        let message = refresh_error(&mut session);
        assert!(message.contains(expected), "{what}: {message}");
        assert!(message.contains(&server.url("skills")) && message.contains("hint: "), "{what}: {message}");
        assert_eq!(text(&mut session), "Validate on submit.", "{what}");
        let peak = peak_memory(session.process_id());
        assert!(peak < MAX_PEAK_MIB, "{what}: the server had {peak} MiB");
    }
    server.behave();
    refresh_ok(&mut session);
    assert_eq!(text(&mut session), "Edition 5.");
    scene.assert_intact("main");
}

#[test]
#[cfg(target_os = "linux")]
fn an_answer_that_never_ends_is_cut_off() {
    let scene = Scene::new();
    let server = scene.http();
    let mut session = scene.launch(&server.url("skills")).start();
    refresh_ok(&mut session);
    let id = "1".repeat(40);
    let cases = [
        (On::Refs, format!("{id} refs/heads/another\n"), "its response is larger than 16 MiB"),
        (On::Pack, format!("shallow {id}"), "what precedes the objects of its answer is larger than 1 MiB"),
    ];
    for (on, line, expected) in cases {
        scene.upstream.push("main", &[("forms.md", &forms(&line))]);
        server.misbehave(on, Fault::Endless(line.clone()));
        let message = refresh_error(&mut session);
        assert!(message.contains(expected), "{line}: {message}");
        assert!(message.contains(&server.url("skills")), "{line}: {message}");
        assert_eq!(names(&mut session), ["forms", "pdf"]);
        let peak = peak_memory(session.process_id());
        assert!(peak < MAX_PEAK_MIB, "{line}: the server had {peak} MiB");
    }
    server.behave();
    refresh_ok(&mut session);
    scene.assert_intact("main");
}
