//! Events are neither lost nor sent twice, and the buffer stays within its limit.

use super::*;
use tempfile::TempDir;

const MAX_BYTES: u64 = 64 << 10;

fn buffer() -> (TempDir, Buffer) {
    let folder = tempfile::tempdir().unwrap();
    let buffer = Buffer::new(&folder.path().join("waiting"), MAX_BYTES);
    (folder, buffer)
}

fn line(number: usize) -> String {
    format!("{{\"number\":{number},\"filler\":\"{}\"}}\n", "x".repeat(200))
}

fn numbers(batch: &Batch) -> Vec<u64> {
    let number = |event: &String| serde_json::from_str::<serde_json::Value>(event).unwrap()["number"].as_u64().unwrap();
    batch.events.iter().map(number).collect()
}

#[test]
fn events_can_be_sent_once_their_file_is_closed_and_are_removed_afterwards() {
    let (_folder, buffer) = buffer();
    buffer.add(&line(1), 1).unwrap();
    assert!(buffer.batch().unwrap().events.is_empty(), "it is still written to");
    assert!(buffer.close());
    assert!(!buffer.close(), "there is nothing more");
    let batch = buffer.batch().unwrap();
    assert_eq!(numbers(&batch), [1]);
    drop(batch);
    let retried = buffer.batch().unwrap();
    assert_eq!(numbers(&retried), [1], "it was not sent yet");
    buffer.remove(retried, &[]).unwrap();
    assert!(buffer.batch().unwrap().events.is_empty());
    assert_eq!(count(&buffer.folder), (0, 0));
}

#[test]
fn small_files_are_sent_together_up_to_the_size_of_a_batch() {
    let (_folder, buffer) = buffer();
    for number in 0..MAX_BATCH_FILES + 5 {
        buffer.add(&line(number), 1).unwrap();
        buffer.close();
    }
    let batch = buffer.batch().unwrap();
    assert_eq!(numbers(&batch), (0..MAX_BATCH_FILES as u64).collect::<Vec<_>>());
    buffer.remove(batch, &[]).unwrap();
    let rest = buffer.batch().unwrap();
    assert_eq!(rest.events.len(), 5);
    buffer.remove(rest, &[]).unwrap();

    let large = Buffer { max_bytes: 100 << 20, ..buffer };
    for number in 0..1_200 {
        large.add(&line(number), 1).unwrap();
    }
    large.close();
    let mut sizes = Vec::new();
    loop {
        let batch = large.batch().unwrap();
        if batch.events.is_empty() {
            break;
        }
        sizes.push(batch.events.len());
        large.remove(batch, &[]).unwrap();
    }
    assert_eq!(sizes, [500, 500, 200]);
}

#[test]
fn a_full_buffer_drops_the_oldest_events_and_counts_each_of_them() {
    for servers in [1, 8] {
        let (folder, _) = buffer();
        let buffers: Vec<Buffer> =
            (0..servers).map(|_| Buffer::new(&folder.path().join("waiting"), MAX_BYTES)).collect();
        let first = &buffers[0];
        // The limit is exceeded by at most one open file of each other server.
        let limit = MAX_BYTES + 300 + (servers as u64 - 1) * (first.segment_bytes() + 300);
        for number in 0..4_000 {
            buffers[number % servers].add(&line(number), 1).unwrap();
            let paths = segment::list(&first.folder).unwrap();
            let total: u64 = paths.iter().map(|path| std::fs::metadata(path).unwrap().len()).sum();
            assert!(total <= limit, "{total} bytes after {number} events of {servers} servers");
        }
        let (kept, dropped) = count(&first.folder);
        assert_eq!(kept as u64 + dropped, 4_000);
        assert!(dropped > 0 && kept > 100, "{kept} kept, {dropped} dropped");
        if servers == 1 {
            first.close();
            assert_eq!(numbers(&first.batch().unwrap())[0], dropped, "the oldest are dropped first");
        }
    }
}

#[test]
fn events_that_are_being_sent_are_not_dropped() {
    let (_folder, buffer) = buffer();
    buffer.add(&line(0), 1).unwrap();
    buffer.close();
    let sending = buffer.batch().unwrap();
    for number in 1..1_000 {
        buffer.add(&line(number), 1).unwrap();
    }
    buffer.remove(sending, &[]).unwrap();
    let (kept, dropped) = count(&buffer.folder);
    assert_eq!(kept as u64 + dropped, 999);
}

#[test]
fn a_file_is_counted_once_even_if_the_server_crashes_while_dropping_it() {
    let (_folder, buffer) = buffer();
    // As if the server had died between counting and removing.
    let add_counted = |events| {
        buffer.add(&line(0), 1).unwrap();
        buffer.close();
        let path = segment::list(&buffer.folder).unwrap().remove(0);
        let last = path.file_name().unwrap().to_str().unwrap().to_owned();
        Dropped { events, last }.write(&buffer.folder).unwrap();
        path
    };
    let file = FinishedSegment::lock(&add_counted(1)).unwrap();
    assert_eq!(buffer.count_dropped(&file, 1).unwrap(), 0);
    file.remove().unwrap();
    assert_eq!(count(&buffer.folder), (0, 1));

    add_counted(2);
    assert!(buffer.batch().unwrap().events.is_empty(), "counted as dropped, so it is not sent");
    assert_eq!(count(&buffer.folder), (0, 2));
}

#[test]
fn events_too_large_for_the_endpoint_are_counted_once_and_removed_with_the_rest() {
    let (_folder, buffer) = buffer();
    let fill = || {
        for numbers in [vec![0, 1], vec![2], vec![3, 4, 5]] {
            for number in &numbers {
                buffer.add(&line(*number), 1).unwrap();
            }
            buffer.close();
        }
    };
    fill();
    buffer.remove(buffer.batch().unwrap(), &[1, 3, 4]).unwrap();
    assert_eq!(count(&buffer.folder), (0, 3));

    fill();
    let batch = buffer.batch().unwrap();
    let last = batch.files[0].0.name().unwrap().to_owned();
    drop(batch);
    // As if the server had died between counting an event of the first file and removing that file.
    Dropped { events: 4, last }.write(&buffer.folder).unwrap();
    let batch = buffer.batch().unwrap();
    assert_eq!(numbers(&batch), [2, 3, 4, 5], "counted events are not sent again");
    buffer.remove(batch, &[0]).unwrap();
    assert_eq!(count(&buffer.folder), (0, 5));
}
