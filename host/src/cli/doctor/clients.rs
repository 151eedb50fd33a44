//! Clients on this machine: whether the files in which they name servers are there, and name this one.

use super::report::Check;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// What their files are called, below the home folder or the project.
const AT_HOME: [(&str, &str); 9] = [
    ("Claude Code", ".claude.json"),
    ("Claude", ".config/Claude/claude_desktop_config.json"),
    ("Claude", "Library/Application Support/Claude/claude_desktop_config.json"),
    ("Codex", ".codex/config.toml"),
    ("Cursor", ".cursor/mcp.json"),
    ("VS Code", ".config/Code/User/mcp.json"),
    ("VS Code", "Library/Application Support/Code/User/mcp.json"),
    ("Gemini", ".gemini/settings.json"),
    ("Windsurf", ".codeium/windsurf/mcp_config.json"),
];
const IN_PROJECT: [(&str, &str); 5] = [
    ("Claude Code", ".mcp.json"),
    ("Codex", ".codex/config.toml"),
    ("Cursor", ".cursor/mcp.json"),
    ("VS Code", ".vscode/mcp.json"),
    ("Gemini", ".gemini/settings.json"),
];

/// Most of a file that is looked through. Claude Code keeps its history beside its servers.
const MOST_BYTES: u64 = 64 << 20;

const OURS: &[u8] = b"skillcell";

pub fn checks(home: Option<&Path>, project: &Path) -> Vec<Check> {
    let at_home = home.into_iter().flat_map(|home| AT_HOME.map(|(client, file)| (client, home.join(file))));
    let in_project = IN_PROJECT.map(|(client, file)| (client, project.join(file)));
    let mut files: Vec<(&str, PathBuf)> = at_home.chain(in_project).filter(|(_, file)| file.is_file()).collect();
    files.sort();
    files.dedup();
    let mut named = false;
    let mut checks: Vec<Check> = Vec::new();
    for (client, file) in files {
        let path = file.display();
        checks.push(match mentions_us(&file) {
            Ok(true) => {
                named = true;
                Check::ok(format!("{client}: {path} mentions skillcell"))
            }
            Ok(false) => Check::ok(format!("{client}: {path} does not mention skillcell")),
            Err(error) => Check::warn(format!("{client}: {path} cannot be read: {error}"), "let this user read it"),
        });
    }
    if !named {
        checks.push(Check::warn("no client was found that mentions skillcell", "add it as README.md shows"));
    }
    checks
}

/// Whether our name stands in a file; nothing else of it is kept or told.
fn mentions_us(file: &Path) -> std::io::Result<bool> {
    let mut bytes = Vec::new();
    File::open(file)?.take(MOST_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes.windows(OURS.len()).any(|window| window == OURS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_both_at_home_and_in_the_project_is_told_once() {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join(".cursor")).unwrap();
        std::fs::write(home.path().join(".cursor/mcp.json"), "{\"mcpServers\":{\"skillcell\":{}}}").unwrap();
        assert_eq!(checks(Some(home.path()), home.path()).len(), 1);
        assert_eq!(checks(None, Path::new("/nowhere")).len(), 1);
    }
}
