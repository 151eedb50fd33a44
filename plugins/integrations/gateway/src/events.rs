//! Parses server-sent events from a byte stream that is split anywhere.
//!
//! A line ends with CR, LF or both, a leading byte order mark is skipped, and comments are ignored. `message:` is read
//! as `data:`, because some services send it.

/// One event: its name, and its data lines joined by line feeds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Event {
    pub name: String,
    pub data: Option<String>,
}

/// The incomplete event received so far.
#[derive(Debug, Default)]
pub struct Events {
    line: Vec<u8>,
    event: Event,
    /// Whether the last byte was CR, so that a following LF belongs to it.
    returned: bool,
    /// Whether a line has ended.
    begun: bool,
}

impl Events {
    /// Returns the events that these bytes complete.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<Event> {
        let mut complete = Vec::new();
        for &byte in bytes {
            let belongs_to_last = byte == b'\n' && self.returned;
            self.returned = byte == b'\r';
            match byte {
                _ if belongs_to_last => {}
                b'\r' | b'\n' => complete.extend(self.end_line()),
                _ => self.line.push(byte),
            }
        }
        complete
    }

    /// Returns the event that the end of the stream completes, if it lacks the final empty line.
    pub fn end(&mut self) -> Option<Event> {
        if !self.line.is_empty() {
            self.end_line();
        }
        self.take()
    }

    fn end_line(&mut self) -> Option<Event> {
        let line = std::mem::take(&mut self.line);
        let line = if std::mem::replace(&mut self.begun, true) { &line[..] } else { without_mark(&line) };
        if line.is_empty() {
            return self.take();
        }
        let line = String::from_utf8_lossy(line);
        let (field, value) = line.split_once(':').unwrap_or((&line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.trim().clone_into(&mut self.event.name),
            "data" | "message" => self.add(value),
            _ => {}
        }
        None
    }

    fn add(&mut self, value: &str) {
        match &mut self.event.data {
            Some(data) => {
                data.push('\n');
                data.push_str(value);
            }
            none => *none = Some(value.to_owned()),
        }
    }

    fn take(&mut self) -> Option<Event> {
        Some(std::mem::take(&mut self.event)).filter(|event| *event != Event::default())
    }
}

fn without_mark(line: &[u8]) -> &[u8] {
    line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn event(name: &str, data: &str) -> Event {
        Event { name: name.to_owned(), data: Some(data.to_owned()) }
    }

    fn all(text: &str) -> Vec<Event> {
        let mut events = Events::default();
        let mut found = events.feed(text.as_bytes());
        found.extend(events.end());
        found
    }

    #[test]
    fn every_end_of_line_ends_a_line() {
        let expected = [event("progress", "one\ntwo"), event("complete", "three")];
        let text = "event: progress\ndata: one\ndata: two\n\nevent: complete\ndata: three\n\n";
        assert_eq!(all(text), expected);
        assert_eq!(all(&text.replace('\n', "\r")), expected);
        assert_eq!(all(&text.replace('\n', "\r\n")), expected);
    }

    #[test]
    fn marks_comments_and_unknown_fields_are_skipped() {
        let text = "\u{feff}event: progress\n: keep alive\nid: 7\nretry: 100\nnonsense\ndata: one\n\n:\n\n\n";
        assert_eq!(all(text), [event("progress", "one")]);
    }

    #[test]
    fn only_one_space_after_the_colon_is_removed() {
        assert_eq!(all("data:one\n\ndata:  two\n\ndata\n\n"), [event("", "one"), event("", " two"), event("", "")]);
    }

    #[test]
    fn message_lines_are_data() {
        let text = "event: progress\nmessage: Querying GitHub API...\n\nevent: complete\nmessage: Query completed";
        assert_eq!(all(text), [event("progress", "Querying GitHub API..."), event("complete", "Query completed")]);
    }

    #[test]
    fn an_event_may_have_no_data() {
        assert_eq!(all("event: complete\n\n"), [Event { name: "complete".to_owned(), data: None }]);
    }

    proptest! {
        #[test]
        fn where_a_stream_is_cut_changes_nothing(
            lines in prop::collection::vec("(event|data|message|:|é|)?:? ?[a-zäß€\u{feff}]{0,4}(\r\n|\n|\r)", 0..12),
            cuts in prop::collection::vec(1usize..7, 1..40),
        ) {
            let text = lines.concat();
            let mut events = Events::default();
            let (mut found, mut rest) = (Vec::new(), text.as_bytes());
            for cut in cuts.iter().cycle() {
                if rest.is_empty() {
                    break;
                }
                let (part, later) = rest.split_at((*cut).min(rest.len()));
                found.extend(events.feed(part));
                rest = later;
            }
            found.extend(events.end());
            prop_assert_eq!(found, all(&text));
        }

        #[test]
        fn any_bytes_are_events_or_nothing(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut events = Events::default();
            events.feed(&bytes);
            events.end();
        }
    }
}
