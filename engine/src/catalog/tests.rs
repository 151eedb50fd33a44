use super::*;
use crate::memory::{self, MemoryRoot};

/// A skill with ten keywords, of which the task `a0 a1 …` matches as many as it has words.
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
fn a_candidate_counts_by_the_least_score_of_its_own_root() {
    let strict = || root("strict", "matching: {min_score: 0.6}");
    let lenient = || root("lenient", "matching: {min_score: 0.1}");
    let usual = || root("usual", "");
    assert_eq!(answer(vec![strict(), lenient(), usual()], 1), ["lenient"]);
    assert_eq!(answer(vec![strict(), lenient(), usual()], 2), ["lenient", "usual"]);
    assert_eq!(answer(vec![strict(), usual()], 1), [""; 0]);
    assert_eq!(answer(vec![strict(), lenient(), usual()], 6), ["lenient", "strict", "usual"]);
}

#[test]
fn threshold_and_number_of_results_are_those_of_the_best_candidates_root() {
    // Equal shares are in the order of their paths.
    let many = |label: &str, settings: &str| {
        (0..9).fold(root(label, settings), |root, number| skill(root, &format!("{label}{number}")))
    };
    let sure = "matching: {ambiguity_threshold: 0}";
    let five = "matching: {max_results: 5}";
    assert_eq!(answer(vec![many("x", sure), many("y", five)], 5), ["x"]);
    assert_eq!(answer(vec![many("a", five), many("b", sure)], 5).len(), 5);
    assert_eq!(answer(vec![many("a", "matching: {max_results: 1}"), many("b", five)], 5).len(), 2);
}

#[test]
fn a_root_inside_another_is_under_both_files() {
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
fn an_answer_names_every_file_that_decided_about_it() {
    let catalog = memory::catalog(vec![root("one", ""), MemoryRoot::new("two")], Duplicates::Refuse);
    let Ok(Answer::Matched(found)) = catalog.find(&Request { context: "a1 a2 a3".to_owned(), chosen: None }, None)
    else {
        panic!("one skill matches");
    };
    let sources: Vec<_> = found.sources.iter().map(|source| (source.root, source.path.as_str())).collect();
    assert_eq!(sources, [(0, "one.md"), (0, SETTINGS_FILE), (1, SETTINGS_FILE)]);
}

#[test]
fn a_file_has_its_skill_in_its_own_root_only() {
    let catalog = memory::catalog(vec![root("one", ""), MemoryRoot::new("two")], Duplicates::Refuse);
    let skill_in = |root: u32, path: &str| catalog.skill_in(&Location { root, path: path.to_owned() });
    assert_eq!(skill_in(0, "one.md").map(|skill| skill.address).as_deref(), Some("one"));
    for (root, path) in [(1, "one.md"), (2, "one.md"), (0, "one"), (0, SETTINGS_FILE)] {
        assert!(skill_in(root, path).is_none(), "{path} of root {root}");
    }
}

#[test]
fn mentions_follow_the_skills_and_nothing_else() {
    let naming = |keyword: &str, body: &str| format!("---\nkeywords: [{keyword}]\ndescription: d\n---\n{body}\n");
    let mut first = MemoryRoot::new("one")
        .file("b.md", &naming("x", "`mcp__skillcell__query`, mcp__github__get_issue"))
        .file("notes.md", "no skill: mcp__skillcell__skill\n");
    let text = "---\nname: a\ndescription: d\nallowed-tools: [Read, mcp__skillcell__skill]\n---\n";
    let second = MemoryRoot::new("two").file("a/SKILL.md", text).file("b.md", &naming("x", "mcp__skillcell__query"));
    let mut catalog = memory::catalog(vec![first.clone(), second], Duplicates::Refuse);
    let told = |catalog: &Catalog, most: u32| -> Vec<String> {
        let said = |found: Mention| {
            let Mention { skill, file, line, column, server, tool } = found;
            format!("{skill} {}/{}:{line}:{column} {server} {tool}", file.root, file.path)
        };
        catalog.mentions(most).into_iter().map(said).collect()
    };
    let all = [
        "a 1/a/SKILL.md:4:23 skillcell skill",
        "b 0/b.md:5:2 skillcell query",
        "b 0/b.md:5:26 github get_issue",
        "two:b 1/b.md:5:1 skillcell query",
    ];
    assert_eq!(told(&catalog, 99), all);
    assert_eq!(told(&catalog, 2), all[..2]);
    assert_eq!(told(&catalog, 0), [""; 0]);
    first = first.file("b.md", &naming("x", "nothing"));
    catalog.roots[0] = Box::new(first);
    catalog.update(vec![Change::File(Location { root: 0, path: "b.md".to_owned() })]);
    catalog.arrange();
    assert_eq!(told(&catalog, 99), [all[0], all[3]]);
}
