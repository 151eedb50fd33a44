//! The buffer that the older skills server left behind, `~/.skills-mcp/analytics-buffer.jsonl`.

use super::waiting::Waiting;
use crate::printable::counted;
use crate::sha256::Sha256;
use serde_json::Value;
use std::io::{self, ErrorKind};
use std::path::Path;

/// Largest file that is taken over, in bytes. The older server has no limit of its own.
const MOST_BYTES: u64 = 64 << 20;

/// Moves its events into ours, once. Their ids come from their bytes, so that after a crash in the middle the same events
/// have the same ids again.
pub fn take_over(file: &Path, waiting: &Waiting, include_text: bool) -> io::Result<()> {
    let failed =
        |path: &Path, error: io::Error| io::Error::other(format!("{} is not taken over: {error}", path.display()));
    // Out of the way of the older server, should it still run, and of servers with another endpoint. What is there already
    // comes from a crash.
    let moved = file.with_extension(format!("jsonl.taken-over-{}", waiting.name()));
    if !moved.exists() {
        match std::fs::rename(file, &moved) {
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(()),
            other => other.map_err(|error| failed(file, error))?,
        }
    }
    take_in(&moved, waiting, include_text).map_err(|error| failed(&moved, error))
}

fn take_in(moved: &Path, waiting: &Waiting, include_text: bool) -> io::Result<()> {
    let metadata = std::fs::symlink_metadata(moved)?;
    if !metadata.is_file() || metadata.len() > MOST_BYTES {
        return Err(io::Error::other(format!("it is no file, or has more than {MOST_BYTES} bytes")));
    }
    let bytes = std::fs::read(moved)?;
    let lines = bytes.split(|byte| *byte == b'\n').enumerate();
    let events: Vec<String> = lines.filter_map(|(number, line)| event(number, line, include_text)).collect();
    waiting.take_in(&events)?;
    tracing::info!("took over {} of an older server", counted(events.len(), "event"));
    std::fs::remove_file(moved)
}

/// An event of the older server with an id, and without free text unless it is wanted.
fn event(number: usize, line: &[u8], include_text: bool) -> Option<String> {
    let Ok(Value::Object(mut event)) = serde_json::from_slice(line) else { return None };
    event.get("type").filter(|kind| kind.is_string())?;
    if let Some(data) = event.get_mut("data").and_then(Value::as_object_mut).filter(|_| !include_text) {
        for text in ["context", "comment"] {
            data.entry(text).and_modify(|text| *text = Value::Null);
        }
    }
    let digest = Sha256::of(&[number.to_string().as_bytes(), b" ", line].concat());
    event.insert("id".to_owned(), digest.hex()[..32].into());
    Some(Value::Object(event).to_string() + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    const LINES: &str = "{\"type\":\"no_match\",\"timestamp\":\"t\",\"server_id\":\"dev-a\",\"data\":{\"context\":\"secret\"}}\n\
        {\"type\":\"no_match\",\"timestamp\":\"t\",\"server_id\":\"dev-a\",\"data\":{\"context\":\"secret\"}}\n\
        {\"type\":\"refr";

    fn taken_over(include_text: bool) -> Vec<Value> {
        let home = tempfile::tempdir().unwrap();
        let waiting = Waiting::new(&home.path().join("waiting"), 1 << 20);
        let file: PathBuf = home.path().join("analytics-buffer.jsonl");
        take_over(&file, &waiting, include_text).unwrap();
        std::fs::write(&file, LINES).unwrap();
        take_over(&file, &waiting, include_text).unwrap();
        take_over(&file, &waiting, include_text).unwrap();
        assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 1, "only our own folder is left");
        let events = waiting.batch().unwrap().events;
        events.iter().map(|event| serde_json::from_str(event).unwrap()).collect()
    }

    #[test]
    fn a_file_that_is_too_large_is_named_where_it_is() {
        let home = tempfile::tempdir().unwrap();
        let waiting = Waiting::new(&home.path().join("waiting"), 1 << 20);
        let file = home.path().join("analytics-buffer.jsonl");
        std::fs::File::create(&file).unwrap().set_len(MOST_BYTES + 1).unwrap();
        let said = take_over(&file, &waiting, true).unwrap_err().to_string();
        let (path, _) = said.split_once(" is not taken over: it is no file, or has more than").unwrap();
        assert_eq!(std::fs::metadata(path).unwrap().len(), MOST_BYTES + 1, "{said}");
    }

    #[test]
    fn the_events_of_an_older_server_are_taken_over_once_each_with_an_id() {
        let (events, again) = (taken_over(false), taken_over(false));
        assert_eq!(events.len(), 2);
        assert_eq!(events, again, "the same bytes have the same ids");
        assert_ne!(events[0]["id"], events[1]["id"]);
        assert_eq!(events[0]["id"].as_str().unwrap().len(), 32);
        assert_eq!(events[0]["data"]["context"], Value::Null);
        assert_eq!(taken_over(true)[0]["data"]["context"], "secret");
    }
}
