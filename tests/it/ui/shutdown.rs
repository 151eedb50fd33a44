//! Start and shutdown of the page.

use super::{Page, ui};
use crate::{SMALL, library};

#[test]
fn a_signal_ends_the_server_and_closes_all_connections() {
    let library = library(&SMALL);
    for signal in ["TERM", "INT"] {
        let mut page = Page::open(ui(library.path()));
        let mut idle = page.client.connect();
        let mut half = page.client.connect();
        half.write(b"GET /");
        let mut kept = page.request("api/catalog").send();
        assert_eq!(kept.reply().status, 200);
        page.session.signal(signal);
        page.session.exits_soon();
        assert!(idle.is_closed() && half.is_closed() && kept.is_closed());
    }
}

#[test]
fn a_port_can_be_chosen_and_one_in_use_is_reported() {
    let library = library(&SMALL);
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let output = ui(library.path()).arg("--port").arg(port.to_string()).output();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{stderr}");
    assert!(
        stderr.contains(&format!("cannot listen on 127.0.0.1:{port}")) && stderr.contains("hint: omit `--port`"),
        "{stderr}"
    );
    drop(taken);
    // Another test may have taken the port in the meantime.
    let is_free = |port: &u16| std::net::TcpListener::bind(("127.0.0.1", *port)).is_ok();
    let free = (port..u16::MAX).find(is_free).unwrap();
    assert_eq!(Page::open(ui(library.path()).arg("--port").arg(free.to_string())).client.address().port(), free);
}

#[test]
fn without_a_folder_the_message_names_what_to_set() {
    let empty = library(&[]);
    let output = skillcell_tests::Launch::bare(crate::SKILLCELL).arg("ui").folder(empty.path()).output();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{stderr}");
    assert!(stderr.contains("hint: "), "{stderr}");
}
