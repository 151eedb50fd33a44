//! A skill is read-only, and of a project what steers agents, editors and git is too.

use crate::{say, tell};
use std::fs::{self, File, OpenOptions};
use std::io::Write as _;

const SKILL: &str = "/skill/SKILL.md";

pub fn write_skill() {
    tell("create", fs::write("/skill/new.txt", "changed"));
    tell("overwrite", fs::write(SKILL, "changed"));
    tell("append", OpenOptions::new().append(true).open(SKILL).and_then(|mut file| file.write_all(b"changed")));
    // Opened for reading, changed all the same.
    let opened = File::open(SKILL).expect("it may be read");
    tell("write to what is read", (&opened).write_all(b"changed"));
    tell("shorten what is read", opened.set_len(0));
    tell("own program", fs::write("/skill/scripts/guest.wasm", "changed"));
    tell("remove", fs::remove_file(SKILL));
    tell("rename", fs::rename(SKILL, "/skill/other.md"));
    tell("rename out", fs::rename(SKILL, "/tmp/SKILL.md"));
    fs::write("/tmp/new", "changed").expect("there is room");
    tell("rename in", fs::rename("/tmp/new", SKILL));
    tell("folder", fs::create_dir("/skill/folder"));
    tell("remove folder", fs::remove_dir("/skill/empty"));
    tell("top", fs::write("/new.txt", "changed"));
    tell("through tmp", fs::write("/tmp/../skill/new.txt", "changed"));
}

pub fn write_work() {
    fs::write("/work/allowed.txt", "changed").expect("the project may be written");
    say(format!("allowed: {}", fs::read_to_string("/work/allowed.txt").expect("it was written")));
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
        "out/planted.txt",
        "out-file",
        "../planted.txt",
    ] {
        tell(path, fs::write(format!("/work/{path}"), "changed"));
    }
    for path in [".GIT", "sub/.git", ".claude", ".vscode"] {
        tell(path, fs::create_dir(format!("/work/{path}")));
    }
    fs::write("/work/prepared", "changed").expect("the project may be written");
    tell("rename to", fs::rename("/work/prepared", "/work/.envrc"));
    tell("rename away", fs::rename("/work/.git", "/work/git"));
    tell("remove", fs::remove_file("/work/.git/config"));
    tell("hard link", fs::hard_link("/work/allowed.txt", "/work/hard"));
}
