//! Recorded answers of a service, from `fixtures/services`, adapted to the current time and commit.
//!
//! `plugins/integrations/kit/src/recorded.rs` describes the format.

use super::moment;
use crate::wire::{Answer, Request};
use serde_json::Value;

/// When each service was recorded, and the commit that was checked out.
const RECORDED: [(&str, i64, &str); 4] = [
    ("github", 1_794_854_580, "6dcb09b5b57875f334f61aebed695e2e4193db5e"),
    ("circleci", 1_773_144_000, "3f2a9c1d0b7e4f5a8c6d2e1f0a9b8c7d6e5f4a3b"),
    ("linear", 1_773_144_000, "3f2a9c1d0b7e4f5a8c6d2e1f0a9b8c7d6e5f4a3b"),
    ("gateway", 1_773_144_000, "3f2a9c1d0b7e4f5a8c6d2e1f0a9b8c7d6e5f4a3b"),
];

/// How many characters of a commit answers show.
const SHOWN: usize = 7;

/// Answers show these fields as dates, so they are not moved.
const DAYS: [&str; 2] = ["startsAt", "endsAt"];

/// All recorded exchanges with one service.
pub struct Recording {
    name: &'static str,
    recorded_at: i64,
    recorded_commit: &'static str,
    commit: String,
    exchanges: Vec<Value>,
    /// The number of seconds by which timestamps are moved.
    later: i64,
}

impl Recording {
    /// Reads all exchanges with a service, and replaces the recorded address and commit with these.
    pub fn open(name: &str, address: &str, commit: &str) -> Self {
        let known = RECORDED.into_iter().find(|(known, ..)| *known == name);
        let (name, recorded_at, recorded_commit) = known.unwrap_or_else(|| panic!("`{name}` was never recorded"));
        let mut exchanges = Vec::new();
        for file in crate::files_below(&folder(name)) {
            if file.extension().is_none_or(|extension| extension != "json") {
                continue;
            }
            let text = std::fs::read_to_string(&file).expect("a readable file");
            let text = text.replace("{address}", address).replace(recorded_commit, commit);
            match serde_json::from_str(&text) {
                Ok(Value::Array(several)) => exchanges.extend(several),
                Ok(one) => exchanges.push(one),
                Err(error) => panic!("{}: {error}", file.display()),
            }
        }
        let commit = commit.to_owned();
        let mut recording = Self { name, recorded_at, recorded_commit, commit, exchanges, later: 0 };
        recording.move_to_now();
        recording
    }

    /// Makes every timestamp as old now as it was at the time of the recording.
    pub fn move_to_now(&mut self) {
        self.later = moment::now() - self.recorded_at;
    }

    /// The expected answer of the integration, from `answers/NAME.txt`.
    pub fn expected(&self, answer: &str) -> String {
        let file = folder(self.name).join("answers").join(format!("{answer}.txt"));
        let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let text = text.replace(&self.recorded_commit[..SHOWN], &self.commit[..SHOWN]);
        text.trim_end_matches('\n').to_owned()
    }

    pub fn answer(&self, request: &Request) -> Answer {
        let line = format!("{} {}", request.method, request.target);
        let body = String::from_utf8_lossy(&request.body);
        let dense_body = dense(&body);
        let found = self.exchanges.iter().find(|exchange| {
            let having = exchange["having"].as_str();
            exchange["request"] == line.as_str() && having.is_none_or(|part| dense_body.contains(&dense(part)))
        });
        let Some(exchange) = found else {
            let message = format!("nothing is recorded for {line} {body}");
            return Answer::json(501, &serde_json::json!({"message": message}));
        };
        let status = exchange["status"].as_u64().unwrap_or(200);
        let headers = exchange["headers"].as_object().into_iter().flatten();
        let headers = headers.map(|(name, value)| (name.clone(), value.as_str().unwrap_or_default().to_owned()));
        let mut content = exchange["body"].clone();
        self.move_all(&mut content);
        let body = exchange["text"].as_str().map_or_else(|| content.to_string(), str::to_owned);
        let status = u16::try_from(status).expect("a status has three digits");
        Answer { status, headers: headers.collect(), body: body.into_bytes() }
    }

    fn move_all(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                if let Some(moved) = moment::later(text, self.later) {
                    *text = moved;
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.move_all(item)),
            Value::Object(fields) => {
                let moving = fields.iter_mut().filter(|(name, _)| !DAYS.contains(&name.as_str()));
                moving.for_each(|(_, field)| self.move_all(field));
            }
            _ => {}
        }
    }
}

/// Removes the characters that GraphQL ignores.
fn dense(text: &str) -> String {
    text.replace(|letter: char| letter.is_whitespace() || letter == ',', "")
}

fn folder(name: &str) -> std::path::PathBuf {
    crate::repository().join("fixtures/services").join(name)
}
