//! The audit record: every run and refusal, whatever happens to the server, and in spite of those who would rather have none.

use crate::scripts::{run, skill};
use crate::{SKILLCELL, serve};
use serde_json::{Value, json};
use skillcell_tests::{Launch, Session};
use std::collections::BTreeMap;
use std::path::Path;

fn audit(home: &Path, arguments: &[&str]) -> (String, Option<i32>) {
    let launch = Launch::bare(SKILLCELL).with_home(home).arg("audit");
    let output = arguments.iter().fold(launch, Launch::arg).output();
    (String::from_utf8(output.stdout).unwrap(), output.status.code())
}

/// Returns the lines of the record.
pub fn lines(home: &Path) -> Vec<Value> {
    let (stdout, _) = audit(home, &["--json", "--last", "100000"]);
    stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn refuse(session: &mut Session, names: &BTreeMap<String, &str>) {
    let result = session.call("run_script", json!({"skill_path": "tool", "file": "../../x.sh", "args": names}));
    assert_eq!(result["isError"], true, "{result}");
}

#[test]
fn a_run_whose_server_is_killed_is_recorded() {
    let folder = skill(&[("spin.sh", "while :; do :; done\n"), ("a.sh", "echo ran\n")]);
    let mut session = serve(folder.path()).start();
    let home = session.home().to_owned();
    run(&mut session, "a.sh");
    let arguments = json!({"skill_path": "tool", "file": "spin.sh", "args": {}});
    session.post("tools/call", json!({"name": "run_script", "arguments": arguments, "_meta": {"progressToken": 1}}));
    session.next_message();
    session.signal("KILL");
    session.wait();
    let all = lines(&home);
    let kinds: Vec<&str> = all.iter().map(|line| line["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["run-begin", "run", "run-begin"]);
    assert_eq!(all[1]["began"], all[0]["number"]);
    assert_eq!((&all[2]["script"], &all[2]["outcome"]), (&json!("spin.sh"), &Value::Null));
    assert!(all[2]["script_digest"].is_string() && all[2]["limits"].is_object(), "{}", all[2]);
    let unfinished = "tool spin.sh  began and has not ended: it is still running, or its server was killed\n";
    let (shown, _) = audit(&home, &[]);
    assert!(shown.contains("tool a.sh  exit 0\n") && shown.ends_with(unfinished), "{shown}");
    assert_eq!(shown.lines().count(), 2, "{shown}");
    let (verified, code) = audit(&home, &["verify"]);
    assert!(verified.ends_with(&format!("{unfinished}3 lines: the record is intact\n")), "{verified}");
    assert_eq!(code, Some(0));
    let (verified, _) = audit(&home, &["verify", "--json"]);
    let verified: Value = serde_json::from_str(&verified).unwrap();
    assert_eq!((&verified["faults"], &verified["unfinished"][0]["number"]), (&json!([]), &json!(3)));
}

#[test]
fn refusals_are_short_counted_and_apart_from_runs() {
    let folder = skill(&[("a.sh", "echo ran\n")]);
    let mut session = serve(folder.path()).start();
    run(&mut session, "a.sh");
    let record = session.home().join(".local/share/skillcell/audit");
    let runs = std::fs::metadata(record.join("audit.jsonl")).unwrap().len();
    for number in 0..100 {
        let names = (0..50).map(|name| (format!("{number}_{name}_{}", "\u{1}".repeat(300)), "")).collect();
        refuse(&mut session, &names);
    }
    let names = BTreeMap::from([("same".to_owned(), "")]);
    (0..100).for_each(|_| refuse(&mut session, &names));
    assert_eq!(std::fs::metadata(record.join("audit.jsonl")).unwrap().len(), runs);
    let lines = lines(session.home());
    let kinds: Vec<&str> = lines.iter().map(|line| line["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, [&["run-begin", "run"][..], &["refusal"; 101], &["repeats"]].concat());
    let longest = lines.iter().skip(2).map(|line| line.to_string().len()).max();
    assert!(longest < Some(2_500), "{longest:?}");
    let [.., refusal, repeats] = &lines[..] else { panic!() };
    assert_eq!((&repeats["of"], &repeats["count"]), (&refusal["number"], &json!(99)));
    let (shown, _) = audit(session.home(), &["--last", "1"]);
    assert!(shown.contains("  tool ../../x.sh  repeated 99 times: path traversal"), "{shown}");
    let (verified, code) = audit(session.home(), &["verify"]);
    assert_eq!((verified.as_str(), code), ("103 lines: the record is intact\n", Some(0)));
}

#[test]
fn a_deleted_file_or_an_older_copy_of_the_record_is_detected_though_servers_go_on() {
    let folder = skill(&[("a.sh", "echo ran\n")]);
    let mut session = serve(folder.path()).start();
    run(&mut session, "a.sh");
    refuse(&mut session, &BTreeMap::new());
    let home = session.home().to_owned();
    let record = home.join(".local/share/skillcell/audit");
    let older: Vec<_> = ["audit.jsonl", "refusals.jsonl", "head.json"]
        .map(|name| (record.join(name), std::fs::read(record.join(name)).unwrap()))
        .into();
    run(&mut session, "a.sh");
    assert_eq!(audit(&home, &["verify"]).0, "5 lines: the record is intact\n");
    for (path, bytes) in &older {
        std::fs::write(path, bytes).unwrap();
    }
    let (verified, code) = audit(&home, &["verify"]);
    assert!(verified.contains("runs: lines were cut off at the end: the last should be 4, but is 2\n"), "{verified}");
    assert_eq!(code, Some(1));
    std::fs::remove_file(record.join("refusals.jsonl")).unwrap();
    run(&mut session, "a.sh");
    let (verified, code) = audit(&home, &["verify"]);
    assert!(verified.contains("runs: lines were removed before line 3: number 5 follows 2\n"), "{verified}");
    assert!(
        verified.contains("refusals: lines were cut off at the end: the last should be 1, but is 0\n"),
        "{verified}"
    );
    assert_eq!(code, Some(1));
}
