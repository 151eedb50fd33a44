//! Which calls belong together when clients have no session: those of one client without a long pause.

use crate::private;
use crate::sha256::{Sha256, hex};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A client that was silent for this long begins anew.
const PAUSE: Duration = Duration::from_mins(30);

/// Most clients that are remembered.
const MOST: usize = 1_000;

/// A name for a session that no other has.
pub fn new_id() -> Arc<str> {
    let mut bytes = [0; 8];
    // Without random numbers all sessions are one, and only `stats` knows less.
    let _ = private::fill(&mut bytes);
    hex(&bytes).into()
}

#[derive(Default)]
pub struct Sessions {
    /// By the digest of what a client calls itself, which may be long.
    of_client: Mutex<HashMap<Sha256, (Instant, Arc<str>)>>,
}

impl Sessions {
    /// The session of a client, by what it calls itself.
    pub fn of(&self, client: &str) -> Arc<str> {
        self.at(client, Instant::now())
    }

    fn at(&self, client: &str, now: Instant) -> Arc<str> {
        let client = Sha256::of(client.as_bytes());
        let mut sessions = self.of_client.lock().unwrap_or_else(PoisonError::into_inner);
        if sessions.len() >= MOST && !sessions.contains_key(&client) {
            sessions.clear();
        }
        let (last, id) = sessions.entry(client).or_insert_with(|| (now, new_id()));
        if now.duration_since(*last) > PAUSE {
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
    fn a_long_pause_and_another_client_are_another_session() {
        let (sessions, now) = (Sessions::default(), Instant::now());
        let first = sessions.at("a", now);
        assert_eq!(sessions.at("a", now + PAUSE), first);
        assert_eq!(sessions.at("a", now + PAUSE * 2), first, "the pause counts from the last call");
        assert_ne!(sessions.at("b", now), first);
        assert_ne!(sessions.at("a", now + PAUSE * 4), first);
        let long = sessions.at(&"c".repeat(1 << 20), now);
        assert_ne!(sessions.at(&"c".repeat((1 << 20) + 1), now), long);
        let bytes = size_of_val(sessions.of_client.lock().unwrap().keys().next().unwrap());
        assert_eq!(bytes, 32, "only digests are kept");
        for client in 0..2 * MOST {
            sessions.at(&client.to_string(), now);
        }
        assert!(sessions.of_client.lock().unwrap().len() <= MOST);
    }
}
