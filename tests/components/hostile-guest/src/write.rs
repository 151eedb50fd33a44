//! A skill changes only in memory, and files of a project that control agents, editors and git not at all.

use crate::{print, report};
use std::fs::{self, File, OpenOptions};
use std::io::Write as _;

const SKILL: &str = "/skill/SKILL.md";

pub fn write_skill() {
    in_memory("create", fs::write("/skill/new.txt", "changed"));
    in_memory("overwrite", fs::write(SKILL, "changed"));
    in_memory("append", OpenOptions::new().append(true).open(SKILL).and_then(|mut file| file.write_all(b"changed")));
    // Opened for reading, but written to.
    let opened = File::open(SKILL).expect("the skill can be read");
    report("write to what is read", (&opened).write_all(b"changed"));
    report("shorten what is read", opened.set_len(0));
    in_memory("own program", fs::write("/skill/scripts/guest.wasm", "changed"));
    in_memory("remove", fs::remove_file(SKILL));
    in_memory("rename", fs::rename(SKILL, "/skill/other.md"));
    report("rename out", fs::rename(SKILL, "/tmp/SKILL.md"));
    fs::write("/tmp/new", "changed").expect("there is space");
    report("rename in", fs::rename("/tmp/new", SKILL));
    in_memory("folder", fs::create_dir("/skill/folder"));
    in_memory("remove folder", fs::remove_dir("/skill/empty"));
    // To wasi-libc `/` is the folder that the program starts in.
    in_memory("top", fs::write("/new.txt", "changed"));
    in_memory("through tmp", fs::write("/tmp/../skill/new.txt", "changed"));
}

fn in_memory(attempt: &str, result: std::io::Result<()>) {
    match result {
        Ok(()) => print(format!("in memory: {attempt}")),
        Err(error) => print(format!("held: {attempt} {error}")),
    }
}

pub fn write_work() {
    fs::write("/work/allowed.txt", "changed").expect("the project may be written");
    print(format!("allowed: {}", fs::read_to_string("/work/allowed.txt").expect("the file was written")));
    fs::create_dir("/work/sub").expect("the project may be written");
    for path in [
        ".git/hooks/pre-commit",
        ".git/config",
        "AGENTS.md",
        "agents.MD",
        "CLAUDE.md",
        "sub/CLAUDE.md",
        ".envrc",
        "sub/../.envrc",
        ".mcp.json",
        "HEAD",
        "out/planted.txt",
        "out-file",
        "../planted.txt",
    ] {
        report(path, fs::write(format!("/work/{path}"), "changed"));
    }
    for path in [".GIT", "sub/.git", ".claude", ".vscode", ".github", "skills"] {
        report(path, fs::create_dir(format!("/work/{path}")));
    }
    fs::write("/work/prepared", "changed").expect("the project may be written");
    report("rename to", fs::rename("/work/prepared", "/work/.envrc"));
    report("rename away", fs::rename("/work/.git", "/work/git"));
    report("remove", fs::remove_file("/work/.git/config"));
    report("rename to HEAD", fs::rename("/work/allowed.txt", "/work/sub/HEAD"));
    report("rename link", fs::rename("/work/out", "/work/other"));
    report("rename over link", fs::rename("/work/allowed.txt", "/work/out-file"));
    report("remove link", fs::remove_file("/work/out-file"));
    report("hard link", fs::hard_link("/work/allowed.txt", "/work/hard"));
}
