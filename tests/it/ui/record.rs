//! The audit trail of the page: runs and refusals, tampering, and the search in all of it.

use super::{Page, SKILLS, field_of_all, ui};
use crate::{SKILLCELL, library};
use serde_json::{Value, json};
use skillcell_tests::Launch;
use std::path::Path;

/// Runs a script of the skill `tool`, and returns the exit code.
fn run(home: &Path, library: &Path, script: &str) -> Option<i32> {
    let command = Launch::bare(SKILLCELL).with_home(home).arg("run").arg("tool").arg(script);
    command.arg("--arg").arg("n=1").arg("--root").arg(library).output().status.code()
}

#[test]
fn the_audit_record_has_runs_and_refusals_and_reveals_tampering() {
    let library = library(&SKILLS);
    let launch = ui(library.path());
    let home = launch.home().to_owned();
    assert_eq!(run(&home, library.path(), "a.sh"), Some(0));
    assert_eq!(run(&home, library.path(), "../../etc/passwd"), Some(1));
    let page = Page::open(launch);
    let record = page.json("api/audit");
    assert_eq!((&record["lines"], &record["faults"], &record["error"]), (&json!(4), &json!([]), &Value::Null));
    assert_eq!(
        field_of_all(&record["entries"], "kind"),
        ["refusal", "refusal", "refusal", "run"],
        "the newest comes first"
    );
    assert!(record["entries"][0]["reason"].as_str().unwrap().contains("path traversal"), "{record}");
    assert!(record["entries"][1]["reason"].as_str().unwrap().contains("`api.example.com`, and no grant"), "{record}");
    assert!(record["entries"][2]["reason"].as_str().unwrap().contains("`TOKEN`, and no grant"), "{record}");
    let run_entry = &record["entries"][3];
    assert_eq!(
        (&run_entry["skill"], &run_entry["outcome"]["exit_code"], &run_entry["outcome"]["refusals"]),
        (&json!("tool"), &json!(0), &json!(2))
    );
    let stdout = Launch::bare(SKILLCELL).with_home(&home).arg("audit").output();
    let stdout = String::from_utf8_lossy(&stdout.stdout).into_owned();
    assert!(stdout.contains("tool a.sh  exit 0, 2 refusals\n"), "{stdout}");
    assert!(stdout.contains("tool a.sh  refused: script `a.sh` wants to read the variable `TOKEN`"), "{stdout}");
    assert_eq!(field_of_all(&page.json("api/audit?last=1")["entries"], "kind"), ["refusal"]);

    let file = home.join(".local/share/skillcell/audit/audit.jsonl");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replacen("\"exit_code\":0", "\"exit_code\":1", 1)).unwrap();
    let refusals = file.with_file_name("refusals.jsonl");
    let text = std::fs::read_to_string(&refusals).unwrap();
    std::fs::write(&refusals, text + "not a line\n").unwrap();
    let record = page.json("api/audit");
    assert!(all_texts(&record["faults"]).iter().any(|fault| fault.contains("was changed")), "{record}");
    assert_eq!(record["entries"][0], json!({"kind": "unreadable", "text": "not a line"}));
}

#[test]
fn the_whole_audit_record_can_be_searched_a_page_at_a_time() {
    let library = library(&SKILLS);
    let launch = ui(library.path());
    let home = launch.home().to_owned();
    assert_eq!(run(&home, library.path(), "a.sh"), Some(0));
    for name in ["one.sh", "two.sh", "three.sh"] {
        assert_eq!(run(&home, library.path(), name), Some(1));
    }
    let page = Page::open(launch);
    let found = |query: &str| {
        let record = page.json(&format!("api/audit?{query}"));
        assert_eq!(record["lines"], 6, "{query} finds only a part, but the record stays the same: {record}");
        let names =
            record["entries"].as_array().unwrap().iter().map(|entry| entry["script"].clone()).collect::<Vec<Value>>();
        (record["matches"].as_u64().unwrap(), names)
    };
    assert_eq!(found("find=TWO.sh"), (1, vec![json!("two.sh")]), "letter case does not matter");
    assert_eq!(found("find=tool%20one"), (1, vec![json!("one.sh")]), "words may be in different fields");
    assert_eq!(found("find=one%20two"), (0, Vec::new()), "all words have to be there");
    assert_eq!(found("find=exit_code"), (0, Vec::new()), "the names of fields are not searched");
    assert_eq!(found("find=%20"), found(""), "white space is not a word");
    assert_eq!(found("only=runs"), (1, vec![json!("a.sh")]));
    assert_eq!(found("only=questions"), (0, Vec::new()));
    let refused = ["three.sh", "two.sh", "one.sh", "a.sh", "a.sh", "a.sh"].map(|name| json!(name)).to_vec();
    assert_eq!(found("only=refusals"), (6, refused.clone()), "a run without what it wanted is one, too");
    assert_eq!(found("only=refusals&find=token"), (1, vec![json!("a.sh")]));
    assert_eq!(found("skip=2&last=2"), (6, refused[2..4].to_vec()));
    assert_eq!(found("skip=6&last=2"), (6, Vec::new()));
    let code = page.json("api/audit?last=1")["entries"][0]["code"].as_str().unwrap().to_owned();
    assert_eq!(found(&format!("find={code}")), (0, Vec::new()), "the codes of the chain are not searched");
    let digest = page.json("api/audit?only=runs")["entries"][0]["script_digest"].as_str().unwrap().to_owned();
    assert_eq!(found(&format!("only=runs&find={digest}")).0, 1);
}

fn all_texts(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect()
}
