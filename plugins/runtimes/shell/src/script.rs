//! Adapts the text of a script to bashkit. Line numbers are unchanged, so that messages name the right line.

use std::borrow::Cow;

use crate::{conditions, expansions};

/// bashkit knows the file of a function only if the file was sourced. In functions of the script itself `BASH_SOURCE`
/// is empty, but scripts use it to find neighboring files. `$0` has the same value there.
const SOURCES: [(&str, &str); 4] = [
    ("${BASH_SOURCE[0]}", "${BASH_SOURCE[0]:-$0}"),
    ("${BASH_SOURCE}", "${BASH_SOURCE:-$0}"),
    ("\"$BASH_SOURCE\"", "\"${BASH_SOURCE:-$0}\""),
    ("$BASH_SOURCE)", "${BASH_SOURCE:-$0})"),
];

pub fn read(file: &str) -> std::io::Result<String> {
    std::fs::read(file).map(adapted)
}

pub fn adapted(content: Vec<u8>) -> String {
    let text = match String::from_utf8(content) {
        Ok(text) => text,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    };
    let mut literal_until = None;
    text.split_inclusive('\n').map(|line| adapted_line(line, &mut literal_until)).collect()
}

/// Text between `<<'END'` and `END` is for a file or another program, and is not changed.
fn adapted_line<'text>(line: &'text str, literal_until: &mut Option<&'text str>) -> Cow<'text, str> {
    if let Some(end) = literal_until {
        if line.trim() == *end {
            *literal_until = None;
        }
        return Cow::Borrowed(line);
    }
    *literal_until = literal_end(line);
    if redirects_shell(line) {
        return Cow::Borrowed(WARNING);
    }
    let line = conditions::adapted(line);
    if !line.contains("${") && !line.contains("BASH_SOURCE") {
        return line;
    }
    let meant = SOURCES.iter().fold(line.into_owned(), |text, (written, meant)| text.replace(written, meant));
    Cow::Owned(expansions::adapted(meant))
}

/// Returns the delimiter of a here-document whose text is literal because of quotes.
fn literal_end(line: &str) -> Option<&str> {
    let (before, after) = line.rsplit_once("<<")?;
    if before.ends_with('<') {
        return None;
    }
    let word = after.trim_start_matches('-').trim_start();
    let quote = word.chars().next().filter(|quote| matches!(quote, '\'' | '"'))?;
    word[1..].split_once(quote).map(|(end, _)| end).filter(|end| !end.is_empty())
}

const WARNING: &str =
    "echo \"$0: output goes to the usual streams, because exec cannot write to a command here\" >&2\n";

/// bashkit loses all output after `exec > >(tee log)`. Losing the log is better.
fn redirects_shell(line: &str) -> bool {
    line.trim_start().strip_prefix("exec ").is_some_and(|rest| {
        let target = rest.trim_start_matches(['1', '2', '&', '>', ' ']);
        target.starts_with('(') && rest.contains("> >(") && !line.trim_end().ends_with('\\')
    })
}

#[cfg(test)]
mod tests {
    use super::{WARNING, adapted};

    fn text(written: &str) -> String {
        adapted(written.as_bytes().to_vec())
    }

    #[test]
    fn a_shell_that_writes_to_a_command_keeps_its_streams() {
        assert_eq!(text("exec > >(tee log) 2>&1\necho x > >(cat)\n"), format!("{WARNING}echo x > >(cat)\n"));
    }

    #[test]
    fn own_functions_know_their_file() {
        assert_eq!(text("cd \"$(dirname \"${BASH_SOURCE[0]}\")\""), "cd \"$(dirname \"${BASH_SOURCE[0]:-$0}\")\"");
        let others = "echo ${BASH_SOURCE[1]} ${#BASH_SOURCE[@]}";
        assert_eq!(text(others), others);
    }

    #[test]
    fn literal_text_stays() {
        let written = "cat > lib.sh <<'LIB'\necho ${BASH_SOURCE[0]}\nLIB\n";
        assert_eq!(text(written), written);
        let here_string = "x=$(cat <<<\"$y\")\n";
        assert_ne!(
            text(&format!("{here_string}echo ${{BASH_SOURCE[0]}}\n")),
            format!("{here_string}echo ${{BASH_SOURCE[0]}}\n")
        );
        assert_ne!(text("cat <<LIB\necho ${BASH_SOURCE[0]}\nLIB\n"), written);
    }
}
