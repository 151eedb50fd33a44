//! How the page begins and ends.

use super::{Page, ui};
use crate::{SMALL, library};
use std::time::Duration;

/// Longest that it may take to end.
const END: Duration = Duration::from_secs(1);

#[test]
fn a_signal_ends_it_with_everything_that_is_open() {
    let library = library(&SMALL);
    for signal in ["TERM", "INT"] {
        let mut page = Page::open(ui(library.path()));
        let mut idle = page.client.connect();
        let mut half = page.client.connect();
        half.write(b"GET /");
        let mut kept = page.request("api/catalog").send();
        assert_eq!(kept.reply().status, 200);
        page.session.signal(signal);
        let (status, took) = page.session.wait();
        assert!(status.success() && took < END, "{signal}: {status} after {took:?}; log:\n{}", page.session.log());
        assert!(idle.is_closed() && half.is_closed() && kept.is_closed());
    }
}

#[test]
fn a_port_can_be_chosen_and_one_that_is_taken_is_told() {
    let library = library(&SMALL);
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let output = ui(library.path()).arg("--port").arg(port.to_string()).output();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{told}");
    assert!(
        told.contains(&format!("cannot listen on 127.0.0.1:{port}")) && told.contains("hint: leave `--port` out"),
        "{told}"
    );
    drop(taken);
    assert_eq!(Page::open(ui(library.path()).arg("--port").arg(port.to_string())).client.address().port(), port);
}

#[test]
fn without_a_folder_it_says_what_to_set() {
    let nowhere = library(&[]);
    let output = skillcell_tests::Launch::bare(crate::SKILLCELL).arg("ui").folder(nowhere.path()).output();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{told}");
    assert!(told.contains("hint: "), "{told}");
}
