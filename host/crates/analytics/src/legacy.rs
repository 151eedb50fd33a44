//! Imports the buffer of the older skills server, `~/.skills-mcp/analytics-buffer.jsonl`.

use super::buffer::Buffer;
use base::digest::Sha256;
use base::printable::counted;
use serde_json::Value;
use std::io::{self, ErrorKind};
use std::path::Path;

/// The older server does not limit its file.
const MAX_BYTES: u64 = 64 << 20;

/// Moves its events into the buffer. Their ids are derived from their bytes, so that a crash makes no duplicates.
pub fn import(file: &Path, buffer: &Buffer, include_text: bool) -> io::Result<()> {
    let failed = |path: &Path, error: io::Error| io::Error::other(format!("cannot import {}: {error}", path.display()));
    // Renamed first, because the older server may still be running, and servers with another endpoint may import too. A
    // renamed file that already exists is left from a crash.
    let moved = file.with_extension(format!("jsonl.taken-over-{}", buffer.name()));
    if !moved.exists() {
        match std::fs::rename(file, &moved) {
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(()),
            renamed => renamed.map_err(|error| failed(file, error))?,
        }
    }
    import_moved(&moved, buffer, include_text).map_err(|error| failed(&moved, error))
}

fn import_moved(moved: &Path, buffer: &Buffer, include_text: bool) -> io::Result<()> {
    let metadata = std::fs::symlink_metadata(moved)?;
    if !metadata.is_file() || metadata.len() > MAX_BYTES {
        return Err(io::Error::other(format!("not a file, or larger than {MAX_BYTES} bytes")));
    }
    let bytes = std::fs::read(moved)?;
    let lines = bytes.split(|byte| *byte == b'\n').enumerate();
    let events: Vec<String> = lines.filter_map(|(number, line)| event(number, line, include_text)).collect();
    buffer.import(&events)?;
    tracing::info!("imported {} from an older server", counted(events.len(), "event"));
    std::fs::remove_file(moved)
}

/// Parses an event and adds an id. Removes free text unless `include_text`.
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

    const LINES: &str = "{\"type\":\"no_match\",\"timestamp\":\"t\",\"server_id\":\"dev-a\",\"data\":{\"context\":\"secret\"}}\n\
        {\"type\":\"no_match\",\"timestamp\":\"t\",\"server_id\":\"dev-a\",\"data\":{\"context\":\"secret\"}}\n\
        {\"type\":\"refr";

    fn imported(include_text: bool) -> Vec<Value> {
        let home = tempfile::tempdir().unwrap();
        let buffer = Buffer::new(&home.path().join("waiting"), 1 << 20);
        let file = home.path().join("analytics-buffer.jsonl");
        import(&file, &buffer, include_text).unwrap();
        std::fs::write(&file, LINES).unwrap();
        import(&file, &buffer, include_text).unwrap();
        import(&file, &buffer, include_text).unwrap();
        assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 1, "only our own folder is left");
        let events = buffer.batch().unwrap().events;
        events.iter().map(|event| serde_json::from_str(event).unwrap()).collect()
    }

    #[test]
    fn the_error_about_a_large_file_names_its_current_path() {
        let home = tempfile::tempdir().unwrap();
        let buffer = Buffer::new(&home.path().join("waiting"), 1 << 20);
        let file = home.path().join("analytics-buffer.jsonl");
        std::fs::File::create(&file).unwrap().set_len(MAX_BYTES + 1).unwrap();
        let message = import(&file, &buffer, true).unwrap_err().to_string();
        let rest = message.strip_prefix("cannot import ").unwrap();
        let (path, _) = rest.split_once(": not a file, or larger than").unwrap();
        assert_eq!(std::fs::metadata(path).unwrap().len(), MAX_BYTES + 1, "{message}");
    }

    #[test]
    fn events_of_the_older_server_are_imported_once_and_get_ids() {
        let (events, repeated) = (imported(false), imported(false));
        assert_eq!(events.len(), 2);
        assert_eq!(events, repeated, "the same bytes have the same ids");
        assert_ne!(events[0]["id"], events[1]["id"]);
        assert_eq!(events[0]["id"].as_str().unwrap().len(), 32);
        assert_eq!(events[0]["data"]["context"], Value::Null);
        assert_eq!(imported(true)[0]["data"]["context"], "secret");
    }
}
