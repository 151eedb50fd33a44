//! Sessions of clients that have none of their own: calls of one client without a long pause.

use base::digest::{Sha256, hex};
use base::user_files;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// After a longer pause, a new session starts.
const MAX_PAUSE: Duration = Duration::from_mins(30);

const MAX_SESSIONS: usize = 1_000;

pub fn new_id() -> Arc<str> {
    let mut bytes = [0; 8];
    // Without random numbers all sessions count as one, which only makes `stats` less precise.
    let _ = user_files::fill_random(&mut bytes);
    hex(&bytes).into()
}

#[derive(Default)]
pub struct Sessions {
    /// Keyed by the digest of the client's name, which may be long.
    by_client: Mutex<HashMap<Sha256, (Instant, Arc<str>)>>,
}

impl Sessions {
    /// Returns the id of the client's session at this time.
    pub fn at(&self, client: &str, now: Instant) -> Arc<str> {
        let client = Sha256::of(client.as_bytes());
        let mut sessions = self.by_client.lock().unwrap_or_else(PoisonError::into_inner);
        if sessions.len() >= MAX_SESSIONS && !sessions.contains_key(&client) {
            sessions.clear();
        }
        let (last, id) = sessions.entry(client).or_insert_with(|| (now, new_id()));
        if now.duration_since(*last) > MAX_PAUSE {
            *id = new_id();
        }
        *last = now;
        Arc::clone(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_pause_or_another_client_starts_another_session() {
        let (sessions, now) = (Sessions::default(), Instant::now());
        let first = sessions.at("a", now);
        assert_eq!(sessions.at("a", now + MAX_PAUSE), first);
        assert_eq!(sessions.at("a", now + MAX_PAUSE * 2), first, "the pause counts from the last call");
        assert_ne!(sessions.at("b", now), first);
        assert_ne!(sessions.at("a", now + MAX_PAUSE * 4), first);
        let long = sessions.at(&"c".repeat(1 << 20), now);
        assert_ne!(sessions.at(&"c".repeat((1 << 20) + 1), now), long);
        let bytes = size_of_val(sessions.by_client.lock().unwrap().keys().next().unwrap());
        assert_eq!(bytes, 32, "only digests are kept");
        for client in 0..2 * MAX_SESSIONS {
            sessions.at(&client.to_string(), now);
        }
        assert!(sessions.by_client.lock().unwrap().len() <= MAX_SESSIONS);
    }
}
