use crate::bindings::exports::skillcell::plugin::catalog::{Duplicates, Edit, Remark, ReviewRequest, ReviewedFile};
use crate::bindings::skillcell::plugin::types::Severity;
use crate::catalog::Catalog;
use crate::memory::{self, MemoryRoot};
use crate::skill;
use proptest::prelude::*;
use proptest::sample::select;

const RUNNABLE: [&str; 5] = [".py", ".js", ".ts", ".sh", ".wasm"];

fn request(allow: &[&str]) -> ReviewRequest {
    let owned = |list: &[&str]| list.iter().map(|item| (*item).to_owned()).collect();
    ReviewRequest {
        start: 0,
        allow: owned(allow),
        other_codes: Vec::new(),
        runnable: owned(&RUNNABLE),
        folders: Vec::new(),
    }
}

fn all(catalog: &Catalog, allow: &[&str]) -> Vec<ReviewedFile> {
    let mut request = request(allow);
    let mut files = Vec::new();
    loop {
        let page = catalog.review(&request);
        files.extend(page.files);
        match page.next {
            Some(next) => request.start = next,
            None => return files,
        }
    }
}

fn remarks(root: MemoryRoot) -> Vec<Remark> {
    let catalog = memory::catalog(vec![root], Duplicates::Refuse);
    all(&catalog, &[]).into_iter().flat_map(|file| file.remarks).collect()
}

/// Code, line and column of each remark.
fn places(root: MemoryRoot) -> Vec<(String, u32, u32)> {
    let place = |remark: Remark| {
        let problem = remark.problem;
        (problem.code, problem.line.unwrap_or_default(), problem.column.unwrap_or_default())
    };
    remarks(root).into_iter().map(place).collect()
}

fn codes(root: MemoryRoot) -> Vec<String> {
    places(root).into_iter().map(|(code, ..)| code).collect()
}

/// A root with the skill `pdf` and some files of it.
fn pdf(more: &str, body: &str) -> MemoryRoot {
    let text = format!("---\nname: pdf\ndescription: d\n{more}---\n{body}");
    let root = MemoryRoot::new("project").file("pdf/SKILL.md", &text).file("pdf/references/guide.md", "");
    root.file("pdf/scripts/_shared.py", "").file("pdf/assets/a b.png", "").file("pdf/.hidden.md", "")
}

/// Applies the edits of all remarks; of overlapping ones the first.
fn fixed(root: MemoryRoot, file: &str, text: &str) -> String {
    let mut edits: Vec<Edit> = remarks(root.file(file, text)).into_iter().flat_map(|remark| remark.edits).collect();
    edits.sort_by_key(|edit| (edit.start, edit.end));
    edits.dedup();
    let mut end = 0;
    edits.retain(|edit| {
        let fits = edit.start >= end;
        end = if fits { edit.end } else { end };
        fits
    });
    super::apply_edits(text, &edits)
}

#[test]
fn a_good_skill_has_no_remarks() {
    let body = "See [the guide](references/guide.md#top), ![](assets/a%20b.png), [](<assets/a b.png>), @references/guide.md.\n\
        [scripts](scripts/) and [here](SKILL.md), [there](https://example.org/a.md), [mail](mailto:a@example.org),\n\
        [below](#below), `[code](nowhere.md)`, [text](url), [x](path/to/file.md), [y]({file}.md), [z](...).\n\
        @angular/core, @pytest.fixture, @octocat, me@example.md, @example.com, `@nowhere.md`, @/components/button, @references/, @a/*, @a/...\n\
        ```\n[code](nowhere.md) @nowhere.md\n```\n";
    assert_eq!(places(pdf("", body)), []);
}

#[test]
fn dead_links_and_references_are_reported_once() {
    let body = "é [a](references/gide.md) ![b](nowhere.png) [a](references/gide.md)\n@nowhere.md, (@references/none.txt)\n\n[d]: gone/x.md\n[e](references/none)\n";
    let remarks = remarks(pdf("", body));
    let reported: Vec<_> = remarks
        .iter()
        .map(|remark| (remark.problem.code.as_str(), remark.problem.line, remark.problem.column))
        .collect();
    assert_eq!(
        reported,
        [
            ("dead-link", Some(5), Some(7)),
            ("dead-link", Some(5), Some(32)),
            ("dead-reference", Some(6), Some(2)),
            ("dead-reference", Some(6), Some(16)),
            ("dead-link", Some(8), Some(6)),
            ("dead-link", Some(9), Some(5)),
        ]
    );
    assert_eq!(remarks[0].problem.message, "`references/gide.md` does not exist");
    assert_eq!(remarks[0].problem.advice, "did you mean `references/guide.md`?");
}

#[test]
fn targets_outside_the_skill_and_hidden_targets_are_reported_as_such() {
    let body = "[a](../other/SKILL.md) [b](/etc/passwd.txt) [c](../../../x.md) @../x.md [d](.hidden.md) [e](references/../references/guide.md)\n";
    let codes = codes(pdf("", body).folder_skill("other", "other"));
    assert_eq!(
        codes,
        ["outside-reference", "outside-reference", "outside-reference", "outside-reference", "dead-link"]
    );
}

#[test]
fn machine_paths_and_missing_folders_are_reported() {
    for (body, expected) in [
        ("@/etc/passwd", vec![("outside-reference", 5, 2)]),
        ("(@/Users/me/notes)", vec![("outside-reference", 5, 3)]),
        ("@~/notes.md and @~/notes", vec![("outside-reference", 5, 2), ("outside-reference", 5, 18)]),
        ("see @gone/.", vec![("dead-reference", 5, 6)]),
        ("@../", vec![]),
        ("@../other/", vec![("outside-reference", 5, 2)]),
        ("@references/ @scripts/. @/ @~/ @~me/x.md @... @etc/passwd @/lib/utils @/users/list @a/* @a/{b} @a/…", vec![]),
    ] {
        let expected: Vec<_> =
            expected.into_iter().map(|(code, line, column)| (code.to_owned(), line, column)).collect();
        assert_eq!(places(pdf("", body)), expected, "{body}");
    }
}

#[test]
fn links_of_a_tree_skill_resolve_in_its_resource_folder_and_beside_its_file() {
    let text = |body: &str| format!("---\nkeywords: [word]\ndescription: d\n---\n{body}\n");
    let root = |body: &str| {
        MemoryRoot::new("project")
            .file("ui/auth.md", &text(body))
            .file("ui/auth/assets/x.txt", "")
            .tree_skill("ui/forms")
    };
    for body in ["[a](assets/x.txt)", "[a](auth/assets/x.txt)", "[a](auth.md)", "@assets/x.txt"] {
        assert_eq!(codes(root(body)), [""; 0], "{body}");
    }
    assert_eq!(codes(root("[a](forms.md)")), ["outside-reference"]);
    assert_eq!(codes(root("[a](gone.md)")), ["dead-link"]);
}

#[test]
fn declared_files_must_exist_and_scripts_need_a_runtime() {
    let more = "assets:\n  - references/guide.md\n  - file: nowhere.png\n    description: d\n\
        scripts:\n  - {file: run.rb, execution: server}\n  - {file: run, execution: server}\n  - {file: read.rb}\n  - {file: x.wasm, execution: server}\n";
    let root = pdf(more, "").file("pdf/run.rb", "").file("pdf/run", "").file("pdf/read.rb", "").file("pdf/x.wasm", "");
    assert_eq!(
        places(root),
        [
            ("missing-file".to_owned(), 6, 11),
            ("no-runtime".to_owned(), 9, 12),
            ("no-runtime".to_owned(), 10, 12),
            ("extension-not-allowed".to_owned(), 12, 12),
        ]
    );
}

#[test]
fn undeclared_scripts_are_reported_once_where_the_text_mentions_one() {
    let root = pdf("", "\nRun `scripts/b.py`.\n").file("pdf/scripts/a.py", "").file("pdf/scripts/b.py", "");
    let remark = &remarks(root.file("pdf/scripts/data.json", ""))[0];
    assert_eq!((remark.problem.line, remark.problem.column), (Some(6), Some(6)));
    assert_eq!(
        remark.problem.message,
        "`scripts/a.py`, `scripts/b.py` are not declared, so `run_script` does not run them"
    );
    assert_eq!(codes(pdf("scripts: [scripts/a.py]\n", "").file("pdf/scripts/a.py", "")), [""; 0]);
}

#[test]
fn nested_scripts_are_reported_unless_they_are_for_import() {
    let root = pdf("", "").file("pdf/scripts/sub/deep/x.py", "").file("pdf/scripts/sub/notes.txt", "");
    let remark = &remarks(root)[0];
    assert_eq!(remark.problem.message, "`scripts/sub/deep/x.py` is not declared, so `run_script` does not run it");
    assert_eq!((remark.problem.line, remark.problem.column), (Some(1), Some(1)));
    let imported = pdf("", "").file("pdf/scripts/_lib/x.py", "").file("pdf/scripts/package/__init__.py", "");
    let imported = imported.file("pdf/scripts/package/x.py", "").file("pdf/scripts/other/x.py", "");
    let imported = imported.folder_skill("pdf/scripts/other", "other");
    assert_eq!(codes(imported), [""; 0]);
    let declared = pdf("scripts: [scripts/sub/x.py]\n", "").file("pdf/scripts/sub/x.py", "");
    assert_eq!(codes(declared), [""; 0]);
}

#[test]
fn tree_skills_in_a_resource_folder_are_reported_and_other_markdown_is_not() {
    let root = MemoryRoot::new("project").tree_skill("t").tree_skill("t/u").tree_skill("t/v/w");
    let root = root.file("t/notes.md", "# Notes\n").file("t/post.md", "---\ntitle: A post\ndescription: d\n---\n");
    let reported: Vec<_> = remarks(root.clone()).into_iter().map(|remark| remark.problem).collect();
    let places: Vec<_> =
        reported.iter().map(|problem| (problem.location.path.as_str(), problem.code.as_str(), problem.line)).collect();
    assert_eq!(places, [("t/u.md", "hidden-skills", Some(1)), ("t/v/w.md", "hidden-skills", Some(1))]);
    assert_eq!(reported[0].message, "`t` is the resource folder of `t.md`, so this skill is not served");
    // A category, a folder skill's own folder, and a file that is not a skill hide nothing.
    assert_eq!(codes(root.clone().tree_skill("t/_index")), [""; 0]);
    assert_eq!(codes(root.file("t.md", "# No skill\n")), [""; 0]);
    assert_eq!(codes(pdf("", "").tree_skill("pdf/references/x")), [""; 0]);
}

#[test]
fn problems_caused_by_other_files_have_a_place() {
    let text = "---\nkeywords: [word]\ndescription: d\nassets: [x.txt]\n---\n";
    let root = MemoryRoot::new("project").file("a.md", text).folder_skill("a", "a").folder_skill("b/c/d", "d");
    let root = root.tree_skill("b").file("b/x.txt", "");
    let reported: Vec<_> = remarks(root)
        .into_iter()
        .map(|remark| (remark.problem.location.path, remark.problem.code, remark.problem.line, remark.problem.column))
        .collect();
    let at = |path: &str, code: &str, line| (path.to_owned(), code.to_owned(), Some(line), Some(1));
    assert_eq!(
        reported,
        [at("a.md", "same-path", 1), at("a.md", "no-resource-folder", 4), at("b.md", "hidden-skills", 1)]
    );
}

#[test]
fn escaped_characters_in_front_matter_are_reported_once_at_their_value() {
    let text = "---\nname: pdf\ndescription: \"x \\u202e hidden \\U000E0068\"\n---\n";
    let root = MemoryRoot::new("project").file("pdf/SKILL.md", text);
    assert_eq!(places(root), [("hidden-text".to_owned(), 3, 14), ("hidden-text".to_owned(), 3, 14)]);
}

#[test]
fn an_unreachable_keyword_is_reported_at_its_place() {
    let text = "---\nkeywords: [deploy, '#']\ndescription: d\n---\n";
    assert_eq!(places(MemoryRoot::new("project").file("a.md", text)), [("unreachable-keyword".to_owned(), 2, 20)]);
    let text = "---\nname: pdf\ndescription: d\nkeywords:\n  - deploy\n  - '#'\n---\n";
    assert_eq!(
        places(MemoryRoot::new("project").file("pdf/SKILL.md", text)),
        [("unreachable-keyword".to_owned(), 6, 5)]
    );
}

#[test]
fn a_valid_name_is_suggested_for_a_missing_one() {
    for (folder, advice) in [
        ("pdf", "add `name: pdf`"),
        ("true", "add `name: \"true\"`"),
        ("Bad_Name", "add `name: bad-name`, and rename the folder to match"),
        ("\u{1b}[2J", "add `name: \"2j\"`, and rename the folder to match"),
        ("文", "add `name: skill`, and rename the folder to match"),
    ] {
        let root = MemoryRoot::new("project").file(&format!("{folder}/SKILL.md"), "---\ndescription: d\n---\n");
        assert_eq!(remarks(root)[0].problem.advice, advice);
    }
}

#[test]
fn arguments_that_become_the_same_variable_are_reported() {
    let more = "scripts:\n  - file: scripts/_shared.py\n    args: [a-b, {name: A_b}, c]\n";
    assert_eq!(places(pdf(more, "")), [("argument-collision".to_owned(), 6, 24)]);
}

#[test]
fn violations_of_the_format_are_reported_at_their_place() {
    let long = format!("compatibility: {}\n", "x".repeat(501));
    for (more, expected) in [
        ("license: 2\n", vec![("off-format", 4, 10)]),
        ("allowed-tools: [Read]\n", vec![("off-format", 4, 16)]),
        (long.as_str(), vec![("off-format", 4, 16)]),
        ("metadata:\n  a: 1\n  b: \"1\"\n  c: [x]\n", vec![("off-format", 5, 6), ("off-format", 7, 6)]),
        ("metadata: x\n", vec![("off-format", 4, 11)]),
        ("metadata:\n  keywords: [xml]\n  aliases: [sgml]\n  priority: 2\n  inherit: true\n", vec![]),
        ("metadata:\n  keywords: xml, sgml\n  priority: '2'\n  inherit: 'true'\n", vec![]),
        ("licence: MIT\n", vec![("unknown-key", 4, 1)]),
        ("version: 1\nmodel: x\ntags: [a]\n", vec![]),
        (
            "assets: [{file: references/guide.md, type: [a], desciption: x}]\n",
            vec![("wrong-type", 4, 44), ("unknown-key", 4, 49)],
        ),
        ("scripts: [{file: scripts/_shared.py, args: [{name: a, required: maybe}]}]\n", vec![("wrong-type", 4, 65)]),
    ] {
        let expected: Vec<_> =
            expected.into_iter().map(|(code, line, column)| (code.to_owned(), line, column)).collect();
        assert_eq!(places(pdf(more, "")), expected, "{more}");
    }
    let hyphens = MemoryRoot::new("project").folder_skill("a--b", "a--b");
    assert_eq!(places(hyphens), [("bad-name".to_owned(), 2, 7)]);
}

#[test]
fn names_of_folder_skills_collide_regardless_of_case() {
    let root = MemoryRoot::new("project")
        .folder_skill("a", "twin")
        .folder_skill("b", "Twin")
        .tree_skill("c/twin")
        .folder_skill("d", "d");
    let collisions: Vec<_> = remarks(root.clone())
        .into_iter()
        .map(|remark| remark.problem)
        .filter(|problem| problem.code == "name-collision")
        .collect();
    let files: Vec<_> = collisions.iter().map(|problem| problem.location.path.as_str()).collect();
    assert_eq!(files, ["a/SKILL.md", "b/SKILL.md"]);
    assert_eq!(collisions[0].message, "the name `twin` is also used by `b/SKILL.md`");
    let roots = vec![MemoryRoot::new("x").folder_skill("a", "twin"), MemoryRoot::new("x-2").folder_skill("a", "twin")];
    let apart = memory::catalog(roots, Duplicates::Refuse);
    let message = |folders: &[&str]| {
        let folders = folders.iter().map(|folder| (*folder).to_owned()).collect();
        let files = apart.review(&ReviewRequest { folders, ..request(&[]) }).files;
        let remarks = files[0].remarks.iter().filter(|remark| remark.problem.code == "name-collision");
        remarks.map(|remark| remark.problem.message.clone()).collect::<String>()
    };
    assert_eq!(message(&["one", "two/three"]), "the name `twin` is also used by `two/three/a/SKILL.md`");
    assert_eq!(message(&["one", ""]), "the name `twin` is also used by `a/SKILL.md`");
    assert_eq!(message(&[]), "the name `twin` is also used by `x-2:a/SKILL.md`");
    let first = memory::catalog(vec![root], Duplicates::First);
    assert!(
        all(&first, &[]).iter().flat_map(|file| &file.remarks).all(|remark| remark.problem.code != "name-collision")
    );
}

#[test]
fn invisible_characters_are_reported_in_all_files_of_a_skill() {
    let root = pdf("scripts: [scripts/run.sh]\n", "")
        .file("pdf/scripts/run.sh", "echo '\u{202e}'\n")
        .file("README.md", "\u{200b}");
    let root = root.file("pdf/references/guide.md", "\u{feff}a\u{200b}b\n").file("bad/SKILL.md", "\u{200b}no skill\n");
    let files: Vec<_> = all(&memory::catalog(vec![root], Duplicates::Refuse), &[])
        .into_iter()
        .map(|file| {
            (file.file.path, file.remarks.into_iter().map(|remark| remark.problem.code).collect::<Vec<_>>().join(" "))
        })
        .collect();
    let expected = [
        ("bad/SKILL.md", "invisible-character no-front-matter"),
        ("pdf/references/guide.md", "byte-order-mark invisible-character"),
        ("pdf/scripts/run.sh", "hidden-text"),
    ];
    assert_eq!(files, expected.map(|(file, codes)| (file.to_owned(), codes.to_owned())));
}

#[test]
fn a_comment_or_the_request_silences_codes() {
    let body = "[a](x.md) [b](../y.md)\n<!-- skillcell-lint allow: dead-link, name-differs -->\n";
    let text = format!("---\nname: other\ndescription: d\n---\n{body}");
    let catalog = memory::catalog(vec![MemoryRoot::new("project").file("pdf/SKILL.md", &text)], Duplicates::Refuse);
    let silenced = |allow: &[&str]| -> Vec<(String, bool)> {
        let remarks = all(&catalog, allow).into_iter().flat_map(|file| file.remarks);
        remarks.map(|remark| (remark.problem.code, remark.silenced)).collect()
    };
    let expected = |outside| {
        [("name-differs", true), ("dead-link", true), ("outside-reference", outside)]
            .map(|(code, silenced)| (code.to_owned(), silenced))
    };
    assert_eq!(silenced(&[]), expected(false));
    assert_eq!(silenced(&["outside-reference"]), expected(true));
    assert_eq!(all(&catalog, &[])[0].allowed, ["dead-link", "name-differs"]);
}

#[test]
fn remarks_per_file_are_limited_and_silenced_ones_do_not_count() {
    let links: String = (0..400).map(|number| format!("[a](x{number}.md)\n")).collect();
    let remarks_of = |body: &str| remarks(pdf("", body));
    let many = remarks_of(&links);
    assert_eq!(many.len(), 51);
    let more = many.iter().find(|remark| remark.problem.code == "more-problems").unwrap();
    assert_eq!(more.problem.message, "350 more problems in this file");
    let silent = remarks_of(&format!("{links}[b](../y.md)\n<!-- skillcell-lint allow: dead-link -->\n"));
    let loud: Vec<_> =
        silent.iter().filter(|remark| !remark.silenced).map(|remark| remark.problem.code.as_str()).collect();
    assert_eq!((silent.len(), loud), (51, vec!["outside-reference"]));
}

#[test]
fn an_error_is_reported_before_any_number_of_warnings() {
    let keywords: Vec<String> = (0..400).map(|number| format!("\"#{}\"", number % 10)).collect();
    let more = format!("keywords: [{}]\nassets: [../../x]\n", keywords.join(", "));
    let links: String = (0..400).map(|number| format!("[a](x{number}.md)\n")).collect();
    let catalog = memory::catalog(vec![pdf(&more, &links)], Duplicates::Refuse);
    let kept: Vec<_> = catalog.problems(99).into_iter().filter(|problem| problem.severity == Severity::Error).collect();
    assert_eq!((kept.len(), kept[0].code.as_str()), (1, "unsafe-path"));
    let loud = |allow: &[&str]| -> Vec<(String, Severity, String)> {
        let remarks = all(&catalog, allow).into_iter().flat_map(|file| file.remarks).filter(|remark| !remark.silenced);
        remarks.map(|remark| (remark.problem.code, remark.problem.severity, remark.problem.message)).collect()
    };
    let reported = loud(&[]);
    assert_eq!(reported.len(), 51);
    assert!(reported.iter().any(|(code, ..)| code == "unsafe-path"));
    let more =
        |reported: &[(String, Severity, String)]| reported.iter().find(|(code, ..)| code == "more-problems").cloned();
    let (_, severity, message) = more(&reported).unwrap();
    assert_eq!((severity, message.as_str()), (Severity::Warning, "751 more problems in this file"));
    // Silenced remarks do not count toward the limit.
    let reported = loud(&["dead-link", "unreachable-keyword"]);
    assert_eq!(reported.iter().map(|(code, ..)| code.as_str()).collect::<Vec<_>>(), ["unsafe-path"]);
    // An error beyond the limit still makes the summary an error.
    let assets: Vec<String> = (0..60).map(|number| format!("../x{number}")).collect();
    let many = remarks(pdf(&format!("assets: [{}]\n", assets.join(", ")), &links));
    assert_eq!(many.len(), 51);
    assert!(many.iter().all(|remark| remark.problem.severity == Severity::Error));
}

#[test]
fn all_problems_of_settings_are_reported() {
    let settings: String = (0..30).map(|number| format!("unknown{number}: 1\n")).collect();
    let catalog = memory::catalog(vec![MemoryRoot::new("project").file("config.yaml", &settings)], Duplicates::Refuse);
    let remarks: Vec<_> = all(&catalog, &[]).into_iter().flat_map(|file| file.remarks).collect();
    assert_eq!((catalog.problems(99).len(), remarks.len()), (21, 30));
    assert!(remarks.iter().all(|remark| remark.problem.code == remarks[0].problem.code));
    assert!(all(&catalog, &[&remarks[0].problem.code])[0].remarks.iter().all(|remark| remark.silenced));
}

#[test]
fn all_pages_together_cover_every_file() {
    let body = "x".repeat(200_000);
    let root = (0..60).fold(MemoryRoot::new("project"), |root, number| {
        root.file(
            &format!("s{number:02}/SKILL.md"),
            &format!("---\nname: s{number:02}\ndescription: d\n---\n[a](b.md) {body}\n"),
        )
    });
    let catalog = memory::catalog(vec![root], Duplicates::Refuse);
    let first = catalog.review(&request(&[]));
    assert_eq!(first.total, 60);
    assert!(first.next.is_some_and(|next| next < 60));
    let files = all(&catalog, &[]);
    assert_eq!(files.len(), 60);
    assert!(files.iter().all(|file| file.remarks.iter().any(|remark| remark.problem.code == "dead-link")));
}

#[test]
fn the_name_is_fixed_to_that_of_the_folder() {
    let root = || MemoryRoot::new("project");
    for (file, text, expected) in [
        (
            "pdf/SKILL.md",
            "---\nname: other # why\ndescription: d\n---\n",
            "---\nname: pdf # why\ndescription: d\n---\n",
        ),
        (
            "pdf/SKILL.md",
            "---\r\nname: \"Bad Name\"\r\ndescription: d\r\n---\r\n",
            "---\r\nname: pdf\r\ndescription: d\r\n---\r\n",
        ),
        ("pdf/SKILL.md", "---\ndescription: d\n---\n", "---\nname: pdf\ndescription: d\n---\n"),
        ("pdf/SKILL.md", "---\r\ndescription: d\r\n---\r\n", "---\r\nname: pdf\r\ndescription: d\r\n---\r\n"),
        ("pdf/SKILL.md", "---\ndescription: d\nname:\n---\n", "---\ndescription: d\nname: pdf\n---\n"),
        ("a/pdf/SKILL.md", "---\nname: -pdf\ndescription: d\n---\n", "---\nname: pdf\ndescription: d\n---\n"),
        ("true/SKILL.md", "---\nname: x\ndescription: d\n---\n", "---\nname: \"true\"\ndescription: d\n---\n"),
        // No fix: the folder's name is invalid, the skill is in the root, or the value is not written in one line.
        ("My Skill/SKILL.md", "---\nname: x\ndescription: d\n---\n", "---\nname: x\ndescription: d\n---\n"),
        ("SKILL.md", "---\nname: x\ndescription: d\n---\n", "---\nname: x\ndescription: d\n---\n"),
        ("pdf/SKILL.md", "---\nname: |\n  x\ndescription: d\n---\n", "---\nname: |\n  x\ndescription: d\n---\n"),
        ("pdf/SKILL.md", "---\n{description: d}\n---\n", "---\n{description: d}\n---\n"),
    ] {
        assert_eq!(fixed(root(), file, text), expected, "{file} {text:?}");
    }
}

#[test]
fn values_with_colons_get_quotes_and_words_become_a_list() {
    let root = || MemoryRoot::new("project");
    for (file, text, expected) in [
        (
            "pdf/SKILL.md",
            "---\nname: pdf\ndescription: Use it: it's good\nhome: https://x.org\n---\n",
            "---\nname: pdf\ndescription: 'Use it: it''s good'\nhome: https://x.org\n---\n",
        ),
        (
            "pdf/SKILL.md",
            "---\r\nname:  pdf\r\ndescription:  a: b\r\n---\r\n",
            "---\r\nname:  pdf\r\ndescription:  'a: b'\r\n---\r\n",
        ),
        (
            "a.md",
            "---\nkeywords: api, c++ , x\ndescription: d\n---\n",
            "---\nkeywords: [api, \"c++\", x]\ndescription: d\n---\n",
        ),
        (
            "a.md",
            "---\nkeywords: [api]\naliases: http # all\ndescription: d\n---\n",
            "---\nkeywords: [api]\naliases: [http] # all\ndescription: d\n---\n",
        ),
        (
            "pdf/SKILL.md",
            "---\nname: pdf\ndescription: d\nkeywords: 'a, b'\n---\n",
            "---\nname: pdf\ndescription: d\nkeywords: [a, b]\n---\n",
        ),
        (
            "a.md",
            "---\nkeywords: foo, \"q\", 'it''s', null\ndescription: d\n---\n",
            "---\nkeywords: [foo, q, \"it''s\", \"null\"]\ndescription: d\n---\n",
        ),
        // No fix: the intention is unclear.
        (
            "a.md",
            "---\nkeywords: [deploy, release\ndescription: Use when: shipping\n---\n",
            "---\nkeywords: [deploy, release\ndescription: Use when: shipping\n---\n",
        ),
        (
            "a.md",
            "---\nkeywords: foo, \"a, b\"\ndescription: d\n---\n",
            "---\nkeywords: foo, \"a, b\"\ndescription: d\n---\n",
        ),
        ("a.md", "---\nkeywords: {a: b}\ndescription: d\n---\n", "---\nkeywords: {a: b}\ndescription: d\n---\n"),
        (
            "pdf/SKILL.md",
            "---\nname: pdf\ndescription: d\nlist: [a\n---\n",
            "---\nname: pdf\ndescription: d\nlist: [a\n---\n",
        ),
    ] {
        assert_eq!(fixed(root(), file, text), expected, "{file} {text:?}");
    }
}

#[test]
fn a_fixed_file_has_nothing_left_to_fix() {
    let text = "\u{feff}---\r\nname: Bad\u{200b} Name\r\ndescription: Use it: now\r\nkeywords: api, web\r\n---\r\nx\u{ad}y\r\n";
    let mut text = text.to_owned();
    for _ in 0..3 {
        text = fixed(MemoryRoot::new("project"), "pdf/SKILL.md", &text);
    }
    assert_eq!(text, "---\r\nname: pdf\r\ndescription: 'Use it: now'\r\nkeywords: [api, web]\r\n---\r\nxy\r\n");
    assert_eq!(codes(MemoryRoot::new("project").file("pdf/SKILL.md", &text)), [""; 0]);
}

#[test]
fn severities_match_the_table() {
    let body = "[a](x.md) \u{202e}\n";
    for remark in remarks(pdf("license: 2\nassets: [nowhere.md]\n", body)) {
        let expected = crate::codes::find(&remark.problem.code).unwrap();
        assert_eq!(
            remark.problem.severity == Severity::Error,
            expected.severity == Severity::Error,
            "{}",
            expected.name
        );
    }
}

const WORDS: [&str; 24] = [
    "deploy",
    "null",
    "Null",
    "~",
    "true",
    "FALSE",
    "yes",
    "No",
    "on",
    "y",
    "12",
    "1e3",
    "0x1f",
    ".5",
    "2024-01-02",
    "c++",
    "c#",
    "été",
    "a b",
    "it's",
    "key:value",
    "a\\b",
    "back`tick",
    "-v",
];

proptest! {
    /// The fixed list is read as exactly the original words.
    #[test]
    fn a_fixed_list_has_the_same_words(words in prop::collection::vec(select(&WORDS[..]), 2..6), quotes in 0..3_usize) {
        let written = |(position, word): (usize, &&str)| match (quotes, position) {
            (0, _) | (_, 0) => (*word).to_owned(),
            (1, _) => format!("\"{word}\""),
            _ => format!("'{word}'"),
        };
        let list: Vec<String> = words.iter().enumerate().map(written).collect();
        for broken in ["", "home: a: b\n"] {
            let text = format!("---\nkeywords: {}\ndescription: d\n{broken}---\n", list.join(", "));
            // Values that need quotes get them first.
            let fixed = (0..3).fold(text, |text, _| fixed(MemoryRoot::new("project"), "a.md", &text));
            let (read, findings) = skill::read(0, "", "a.md", &fixed);
            prop_assert_eq!(read.map(|skill| skill.keywords).unwrap_or_default(), words.clone(), "{}", &fixed);
            prop_assert!(findings.iter().all(|finding| finding.code == "unreachable-keyword"), "{} {:?}", fixed, findings);
        }
    }
}
