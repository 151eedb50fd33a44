//! Long lists, which the server builds in parts.

use crate::{library, serve};
use serde_json::Value;
use skillcell_tests::{Session, write_files};
use std::path::Path;

/// Enough for more than one part, and a last part that is not full.
const SKILLS: usize = 620;

fn write(folder: &Path, number: usize, name: &str, description: &str) {
    let text = format!("---\nname: {name}\ndescription: {description}\n---\nText.\n");
    write_files(folder, &[(&format!("skill-{number:03}/SKILL.md"), &text)]);
}

/// Returns the names in the list, each with its description.
fn listed(session: &mut Session) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let skills = session.fresh(|session| session.all("resources/list", "resources"));
    let mut listed: Vec<_> = skills.iter().map(|skill| (text(&skill["title"]), text(&skill["description"]))).collect();
    listed.sort();
    listed
}

fn expected(each: impl Fn(usize) -> (String, String)) -> Vec<(String, String)> {
    let mut all: Vec<_> = (0..SKILLS).map(each).collect();
    all.sort();
    all
}

fn skill_name(number: usize) -> String {
    format!("skill-{number:03}")
}

#[test]
fn a_long_list_has_every_skill_once_and_is_fresh_after_each_change() {
    let library = library(&[]);
    let folder = library.path();
    for number in 0..SKILLS {
        write(folder, number, &skill_name(number), "old");
    }
    let mut session = serve(folder).start();
    assert_eq!(listed(&mut session), expected(|number| (skill_name(number), "old".to_owned())));

    let is_edited = |number: usize| number.is_multiple_of(2);
    for number in (0..SKILLS).filter(|number| is_edited(*number)) {
        write(folder, number, &skill_name(number), "new");
    }
    let description = |number: usize| if is_edited(number) { "new" } else { "old" }.to_owned();
    assert_eq!(listed(&mut session), expected(|number| (skill_name(number), description(number))));

    // A new name moves a skill in the list.
    let name = |number: usize| if number == 300 { "another".to_owned() } else { skill_name(number) };
    write(folder, 300, &name(300), "new");
    for number in 301..SKILLS {
        write(folder, number, &name(number), "newest");
    }
    let description = |number: usize| if number > 300 { "newest".to_owned() } else { description(number) };
    assert_eq!(listed(&mut session), expected(|number| (name(number), description(number))));
}
