//! Rewrites bashkit's messages to those of bash, and explains why a well-known command is missing.
//!
//! bashkit adds advice for its own users to "command not found". Here the message is that of bash, and for commands
//! that can never work in the sandbox a second line gives the reason.

use std::borrow::Cow;

const MISSING: &str = ": command not found";

/// An internal prefix in some bashkit messages.
const INTERNAL: &str = ": io error: ";

/// Commands that need another program or a network.
#[rustfmt::skip]
const KNOWN: &[&str] = &[
    "apk", "apt", "apt-get", "aws", "az", "brew", "bun", "bunx", "cargo", "clang", "cmake", "crontab", "curl", "deno", "dig",
    "dnf", "docker", "docker-compose", "doas", "emacs", "ffmpeg", "g++", "gcc", "gcloud", "gh", "git", "go", "gpg", "helm",
    "host", "http", "ifconfig", "ip", "java", "javac", "journalctl", "just", "kubectl", "magick", "mvn", "mysql", "nano",
    "nc", "netstat", "ngrok", "npm", "nslookup", "pandoc", "perl", "php", "ping", "pip", "pip3", "pipx",
    "pnpm", "podman", "poetry", "psql", "python2", "redis-cli", "rsync", "ruby", "rustc", "rustup",
    "scp", "screen", "service", "sftp", "sqlite3", "ssh", "ssh-keygen", "strace", "su", "sudo", "systemctl", "telnet",
    "terraform", "tmux", "ts-node", "uv", "uvx", "vi", "vim", "wget", "yarn", "yum", "zsh",
];

pub fn standardized(stderr: &[u8]) -> Cow<'_, [u8]> {
    // Output that is not UTF-8 does not come from the shell.
    match std::str::from_utf8(stderr) {
        Ok(text) if text.contains(MISSING) || text.contains(INTERNAL) => Cow::Owned(
            text.replace(INTERNAL, ": ").split_inclusive('\n').map(explained).collect::<String>().into_bytes(),
        ),
        _ => Cow::Borrowed(stderr),
    }
}

fn explained(line: &str) -> String {
    let Some((before, advice)) = line.split_once(MISSING) else { return line.to_owned() };
    let Some((place, command)) = before.rsplit_once(": ") else { return line.to_owned() };
    let from_shell = place.contains(": line ") && (advice == "\n" || advice.starts_with(". "));
    if !from_shell {
        return line.to_owned();
    }
    let hint = if KNOWN.contains(&command) {
        format!("{command} is not available: scripts run in a sandbox without other programs and without a network\n")
    } else {
        String::new()
    };
    format!("{before}{MISSING}\n{hint}")
}

#[cfg(test)]
mod tests {
    use super::standardized;

    fn text(stderr: &str) -> String {
        String::from_utf8(standardized(stderr.as_bytes()).into_owned()).expect("text stays text")
    }

    #[test]
    fn advice_becomes_a_reason() {
        assert_eq!(
            text("/skill/a.sh: line 3: npm: command not found. Package managers are not available in the sandbox.\n"),
            "/skill/a.sh: line 3: npm: command not found\n\
             npm is not available: scripts run in a sandbox without other programs and without a network\n"
        );
    }

    #[test]
    fn unknown_commands_get_no_advice() {
        assert_eq!(
            text("/skill/a.sh: line 3: ecoh: command not found. Did you mean: echo?\n"),
            "/skill/a.sh: line 3: ecoh: command not found\n"
        );
    }

    #[test]
    fn messages_of_the_script_are_unchanged() {
        let own = "error: git: command not found. Install it\n";
        assert_eq!(text(own), own);
    }
}
