use super::*;
use tempfile::TempDir;

const MOST: u64 = 64 << 10;

fn waiting() -> (TempDir, Waiting) {
    let folder = tempfile::tempdir().unwrap();
    let waiting = Waiting::new(&folder.path().join("waiting"), MOST);
    (folder, waiting)
}

fn line(number: usize) -> String {
    format!("{{\"number\":{number},\"filler\":\"{}\"}}\n", "x".repeat(200))
}

fn numbers(batch: &Batch) -> Vec<u64> {
    let number = |event: &String| serde_json::from_str::<serde_json::Value>(event).unwrap()["number"].as_u64().unwrap();
    batch.events.iter().map(number).collect()
}

#[test]
fn what_is_written_is_sent_once_it_is_closed_and_forgotten_once_it_is_sent() {
    let (_folder, waiting) = waiting();
    waiting.add(&line(1), 1).unwrap();
    assert!(waiting.batch().unwrap().events.is_empty(), "it is still written to");
    assert!(waiting.close());
    assert!(!waiting.close(), "there is nothing more");
    let batch = waiting.batch().unwrap();
    assert_eq!(numbers(&batch), [1]);
    drop(batch);
    let again = waiting.batch().unwrap();
    assert_eq!(numbers(&again), [1], "nobody has it yet");
    waiting.forget(again, &[]).unwrap();
    assert!(waiting.batch().unwrap().events.is_empty());
    assert_eq!(count(&waiting.folder), (0, 0));
}

#[test]
fn many_small_files_are_sent_together_and_a_batch_stays_small() {
    let (_folder, waiting) = waiting();
    for number in 0..BATCH_FILES + 5 {
        waiting.add(&line(number), 1).unwrap();
        waiting.close();
    }
    let batch = waiting.batch().unwrap();
    assert_eq!(numbers(&batch), (0..BATCH_FILES as u64).collect::<Vec<_>>());
    waiting.forget(batch, &[]).unwrap();
    let rest = waiting.batch().unwrap();
    assert_eq!(rest.events.len(), 5);
    waiting.forget(rest, &[]).unwrap();

    let large = Waiting { most_bytes: 100 << 20, ..waiting };
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
        large.forget(batch, &[]).unwrap();
    }
    assert_eq!(sizes, [500, 500, 200]);
}

#[test]
fn the_oldest_go_when_there_is_no_room_and_every_event_is_either_there_or_counted() {
    let (_folder, waiting) = waiting();
    let written = 2_000;
    for number in 0..written {
        waiting.add(&line(number), 1).unwrap();
        let lengths = segment::list(&waiting.folder).unwrap();
        let total: u64 = lengths.iter().map(|path| std::fs::metadata(path).unwrap().len()).sum();
        assert!(total <= MOST + 300, "{total} bytes after {number} events");
    }
    let (kept, dropped) = count(&waiting.folder);
    assert_eq!(kept as u64 + dropped, written as u64);
    assert!(dropped > 0 && kept > 100, "{kept} kept, {dropped} dropped");
    waiting.close();
    let oldest = numbers(&waiting.batch().unwrap())[0];
    assert_eq!(oldest, dropped, "the oldest went first");
}

#[test]
fn several_servers_exceed_the_limit_by_one_open_file_each_and_no_more() {
    let (folder, first) = waiting();
    let more = (0..7).map(|_| Waiting::new(&folder.path().join("waiting"), MOST));
    let servers: Vec<Waiting> = std::iter::once(first).chain(more).collect();
    let most = MOST + 8 * (servers[0].segment_bytes() + 300);
    for number in 0..4_000 {
        servers[number % 8].add(&line(number), 1).unwrap();
        let paths = segment::list(&servers[0].folder).unwrap();
        let total: u64 = paths.iter().map(|path| std::fs::metadata(path).unwrap().len()).sum();
        assert!(total <= most, "{total} bytes after {number} events");
    }
    let (kept, dropped) = count(&servers[0].folder);
    assert_eq!(kept as u64 + dropped, 4_000);
    assert!(dropped > 0);
}

#[test]
fn a_buffer_whose_folder_cannot_be_made_works_as_soon_as_it_can() {
    let (folder, waiting) = waiting();
    let place = folder.path().join("waiting");
    std::fs::write(&place, "in the way").unwrap();
    assert!(waiting.add(&line(0), 1).is_err());
    assert!(waiting.only_sender().unwrap().is_none(), "there is nothing to send");
    std::fs::remove_file(&place).unwrap();
    waiting.add(&line(1), 1).unwrap();
    waiting.close();
    assert!(waiting.only_sender().unwrap().is_some());
    assert_eq!(numbers(&waiting.batch().unwrap()), [1]);
}

#[test]
fn what_is_being_sent_is_never_dropped() {
    let (_folder, waiting) = waiting();
    waiting.add(&line(0), 1).unwrap();
    waiting.close();
    let sending = waiting.batch().unwrap();
    for number in 1..1_000 {
        waiting.add(&line(number), 1).unwrap();
    }
    waiting.forget(sending, &[]).unwrap();
    let (kept, dropped) = count(&waiting.folder);
    assert_eq!(kept as u64 + dropped, 999);
}

#[test]
fn a_crash_while_a_file_is_dropped_counts_it_once() {
    let (_folder, waiting) = waiting();
    waiting.add(&line(0), 1).unwrap();
    waiting.close();
    let path = segment::list(&waiting.folder).unwrap().remove(0);
    let name = path.file_name().unwrap().to_str().unwrap().to_owned();
    // As if the server had died between counting and removing.
    Dropped { events: 1, last: name }.write(&waiting.folder).unwrap();
    let file = Finished::take(&path).unwrap();
    assert_eq!(waiting.drop_file(file).unwrap(), 0);
    assert_eq!(count(&waiting.folder), (0, 1));

    waiting.add(&line(1), 1).unwrap();
    waiting.close();
    let path = segment::list(&waiting.folder).unwrap().remove(0);
    let name = path.file_name().unwrap().to_str().unwrap().to_owned();
    Dropped { events: 2, last: name }.write(&waiting.folder).unwrap();
    assert!(waiting.batch().unwrap().events.is_empty(), "counted as dropped, so it is not sent");
    assert_eq!(count(&waiting.folder), (0, 2));
}

#[test]
fn what_an_endpoint_never_takes_is_counted_once_and_goes_with_the_rest() {
    let (_folder, waiting) = waiting();
    let fill = || {
        for numbers in [vec![0, 1], vec![2], vec![3, 4, 5]] {
            for number in &numbers {
                waiting.add(&line(*number), 1).unwrap();
            }
            waiting.close();
        }
    };
    fill();
    waiting.forget(waiting.batch().unwrap(), &[1, 3, 4]).unwrap();
    assert_eq!(count(&waiting.folder), (0, 3));

    fill();
    let batch = waiting.batch().unwrap();
    let last = batch.files[0].0.name().unwrap().to_owned();
    drop(batch);
    // As if the server had died between counting an event of the first file and removing that file.
    Dropped { events: 4, last }.write(&waiting.folder).unwrap();
    let batch = waiting.batch().unwrap();
    assert_eq!(numbers(&batch), [2, 3, 4, 5], "what was counted is not sent again");
    waiting.forget(batch, &[0]).unwrap();
    assert_eq!(count(&waiting.folder), (0, 5));
}

#[test]
fn only_one_sends() {
    let (_folder, waiting) = waiting();
    let alone = waiting.only_sender().unwrap();
    assert!(alone.is_some());
    assert!(waiting.only_sender().unwrap().is_none());
    drop(alone);
    assert!(waiting.only_sender().unwrap().is_some());
}

#[test]
fn a_folder_that_went_away_is_made_again() {
    let (folder, waiting) = waiting();
    waiting.add(&line(0), 1).unwrap();
    std::fs::remove_dir_all(folder.path().join("waiting")).unwrap();
    waiting.add(&line(1), 1).unwrap();
    assert_eq!(count(&waiting.folder), (1, 0));
}
