use super::*;
use crate::memory::{self, MemoryRoot};

/// Adds a skill with ten keywords; the task `a0 a1 …` matches as many as it has words.
fn skill(root: MemoryRoot, path: &str) -> MemoryRoot {
    let text = "---\nkeywords: [a0, a1, a2, a3, a4, a5, a6, a7, a8, a9]\ndescription: d\n---\n";
    root.file(&format!("{path}.md"), text)
}

fn answer(roots: Vec<MemoryRoot>, matched: usize) -> Vec<String> {
    let catalog = memory::catalog(roots, Duplicates::Refuse);
    let words: Vec<String> = (0..matched).map(|number| format!("a{number}")).collect();
    match catalog.find(&Request { context: words.join(" "), chosen: None }, None) {
        Ok(Answer::Matched(found)) => vec![found.candidate.address],
        Ok(Answer::Ambiguous(candidates)) => candidates.into_iter().map(|candidate| candidate.address).collect(),
        Ok(Answer::NoMatch) | Err(_) => Vec::new(),
    }
}

fn root(label: &str, settings: &str) -> MemoryRoot {
    skill(MemoryRoot::new(label).file(SETTINGS_FILE, settings), label)
}

#[test]
fn a_candidate_needs_the_min_score_of_its_own_root() {
    let strict = || root("strict", "matching: {min_score: 0.6}");
    let lenient = || root("lenient", "matching: {min_score: 0.1}");
    let usual = || root("usual", "");
    assert_eq!(answer(vec![strict(), lenient(), usual()], 1), ["lenient"]);
    assert_eq!(answer(vec![strict(), lenient(), usual()], 2), ["lenient", "usual"]);
    assert_eq!(answer(vec![strict(), usual()], 1), [""; 0]);
    assert_eq!(answer(vec![strict(), lenient(), usual()], 6), ["lenient", "strict", "usual"]);
}

/// A root with ten equal skills.
fn ten(label: &str, settings: &str) -> MemoryRoot {
    (0..9).fold(root(label, settings), |root, number| skill(root, &format!("{label}{number}")))
}

#[test]
fn a_root_decides_only_between_its_own_skills() {
    let (sure, five) = ("matching: {ambiguity_threshold: 0}", "matching: {max_results: 5}");
    assert_eq!(answer(vec![ten("x", sure)], 5), ["x"]);
    assert_eq!(answer(vec![ten("x", five)], 5).len(), 5);
    assert_eq!(answer(vec![root("x", "matching: {ambiguity_threshold: 1}"), root("y", "")], 5), ["x", "y"]);
    // Between skills of two roots the defaults apply, whichever settings they have, even if the best two are of one root.
    for (one, other) in [(sure, sure), (sure, five), (five, sure), (five, "matching: {max_results: 1}")] {
        assert_eq!(answer(vec![ten("x", one), ten("y", other)], 5).len(), 3, "{one} {other}");
    }
    let unsure = "matching: {ambiguity_threshold: 1}";
    let weak = MemoryRoot::new("y")
        .file(SETTINGS_FILE, unsure)
        .file("weak.md", "---\nkeywords: [a0, a1, a2, b3, b4, b5, b6, b7, b8, b9]\ndescription: d\n---\n");
    assert_eq!(answer(vec![root("x", unsure), weak], 5), ["x"]);
    // The file of a root around both is a file of both.
    let around =
        vec![MemoryRoot::new("a").file(SETTINGS_FILE, sure), ten("x", "").inside(&[0]), ten("y", "").inside(&[0])];
    assert_eq!(answer(around, 5), ["x"]);
}

#[test]
fn no_root_takes_all_places_from_equally_good_skills_of_others() {
    assert_eq!(answer(vec![ten("x", ""), ten("y", "")], 5), ["x", "x0", "y"]);
    assert_eq!(answer(vec![ten("x", ""), root("y", ""), root("z", "")], 5), ["x", "y", "z"]);
    assert_eq!(answer(vec![ten("z", ""), ten("a", ""), ten("b", ""), ten("c", "")], 5), ["a", "b", "c"]);
    assert_eq!(answer(vec![ten("x", "")], 5), ["x", "x0", "x1"]);
    // Better ones have places before.
    let better = "---\nkeywords: [a0, a1, a2, a3, a4, a5]\ndescription: d\n---\n";
    let two = root("x", "").file("p.md", better).file("q.md", better);
    assert_eq!(answer(vec![two.clone(), root("y", "")], 5), ["p", "q", "y"]);
    assert_eq!(answer(vec![two.file("r.md", better), root("y", "")], 5), ["p", "q", "r"]);
}

#[test]
fn priority_breaks_ties_only_within_a_root() {
    let with_priority = |label: &str, priority: i32| {
        let text = format!("---\nkeywords: [a0, a1]\ndescription: d\npriority: {priority}\n---\n");
        MemoryRoot::new(label).file(&format!("{label}.md"), &text)
    };
    let plain = "---\nkeywords: [a0, a1]\ndescription: d\n---\n";
    assert_eq!(answer(vec![with_priority("z", 900).file("a.md", plain)], 2), ["z"]);
    for (first, second) in [(0, 900), (900, 0), (900, -900)] {
        assert_eq!(answer(vec![with_priority("z", first), with_priority("a", second)], 2), ["a", "z"]);
    }
    let three = vec![with_priority("z", 9).file("b.md", plain), with_priority("a", 0)];
    assert_eq!(answer(three, 2), ["a", "z", "b"]);
}

#[test]
fn a_nested_root_is_subject_to_both_files() {
    let outer = root("outer", "matching: {min_score: 0.6, max_results: 2}\nscripts: {timeout_seconds: 5}");
    let inner = root("inner", "matching: {min_score: 0.3}\nscripts: {timeout_seconds: 50, fuel: 7}").inside(&[0]);
    let silent = skill(MemoryRoot::new("silent").inside(&[1, 0]), "silent");
    let catalog = memory::catalog(vec![outer, inner, silent], Duplicates::Refuse);
    let matching = |root: u32| catalog.settings_of(root).matching;
    let least = [0, 1, 2].map(|root| format!("{}", matching(root).min_score));
    assert_eq!(least, ["0.6", "0.3", "0.3"]);
    assert_eq!((matching(0).max_results, matching(2).max_results), (2, 2));
    let scripts = catalog.settings_of(2).scripts;
    assert_eq!((scripts.timeout_seconds, scripts.fuel), (5, 7));
    let sources: Vec<u32> = catalog.settings_of(2).sources.iter().map(|source| source.root).collect();
    assert_eq!(sources, [2, 1, 0]);
    assert_eq!(catalog.settings_of(99).matching.max_results, 3);
}

#[test]
fn an_answer_names_every_file_it_depends_on() {
    let catalog = memory::catalog(vec![root("one", ""), MemoryRoot::new("two")], Duplicates::Refuse);
    let Ok(Answer::Matched(found)) = catalog.find(&Request { context: "a1 a2 a3".to_owned(), chosen: None }, None)
    else {
        panic!("one skill matches");
    };
    let sources: Vec<_> = found.sources.iter().map(|source| (source.root, source.path.as_str())).collect();
    assert_eq!(sources, [(0, "one.md"), (0, SETTINGS_FILE), (1, SETTINGS_FILE)]);
}

#[test]
fn a_skill_is_found_by_file_in_its_own_root_only() {
    let catalog = memory::catalog(vec![root("one", ""), MemoryRoot::new("two")], Duplicates::Refuse);
    let skill_in = |root: u32, path: &str| catalog.skill_in(&Location { root, path: path.to_owned() });
    assert_eq!(skill_in(0, "one.md").map(|skill| skill.address).as_deref(), Some("one"));
    for (root, path) in [(1, "one.md"), (2, "one.md"), (0, "one"), (0, SETTINGS_FILE)] {
        assert!(skill_in(root, path).is_none(), "{path} of root {root}");
    }
}

#[test]
fn mentions_come_from_skills_only() {
    let naming = |keyword: &str, body: &str| format!("---\nkeywords: [{keyword}]\ndescription: d\n---\n{body}\n");
    let mut first = MemoryRoot::new("one")
        .file("b.md", &naming("x", "`mcp__skillcell__query`, mcp__github__get_issue"))
        .file("notes.md", "no skill: mcp__skillcell__skill\n");
    let text = "---\nname: a\ndescription: d\nallowed-tools: [Read, mcp__skillcell__skill]\n---\n";
    let second = MemoryRoot::new("two").file("a/SKILL.md", text).file("b.md", &naming("x", "mcp__skillcell__query"));
    let mut catalog = memory::catalog(vec![first.clone(), second], Duplicates::Refuse);
    let mentions = |catalog: &Catalog, max: u32| -> Vec<String> {
        let line = |found: Mention| {
            let Mention { skill, file, line, column, server, tool } = found;
            format!("{skill} {}/{}:{line}:{column} {server} {tool}", file.root, file.path)
        };
        catalog.mentions(max).into_iter().map(line).collect()
    };
    let all = [
        "a 1/a/SKILL.md:4:23 skillcell skill",
        "b 0/b.md:5:2 skillcell query",
        "b 0/b.md:5:26 github get_issue",
        "two:b 1/b.md:5:1 skillcell query",
    ];
    assert_eq!(mentions(&catalog, 99), all);
    assert_eq!(mentions(&catalog, 2), all[..2]);
    assert_eq!(mentions(&catalog, 0), [""; 0]);
    first = first.file("b.md", &naming("x", "nothing"));
    catalog.roots[0] = Box::new(first);
    catalog.update(vec![Change::File(Location { root: 0, path: "b.md".to_owned() })]);
    catalog.arrange();
    assert_eq!(mentions(&catalog, 99), [all[0], all[3]]);
}
