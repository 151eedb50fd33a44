//! Who may compile: few at once, because it takes much memory, and each skill one at a time, so that a skill with many
//! programs leaves room for others.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

const MAX_CONCURRENT: usize = 2;

pub struct Compilations {
    all: Arc<Semaphore>,
    skills: Mutex<HashMap<String, Arc<Semaphore>>>,
}

/// Allows one compilation until it is dropped.
pub struct Turn {
    _skill: OwnedSemaphorePermit,
    _all: OwnedSemaphorePermit,
}

impl Compilations {
    pub fn new() -> Self {
        Self { all: Arc::new(Semaphore::new(MAX_CONCURRENT)), skills: Mutex::default() }
    }

    /// Waits until a skill may compile. First come, first served.
    pub async fn turn(&self, skill: &str) -> Turn {
        let of_skill = self.of_skill(skill);
        let wait = async |turns: Arc<Semaphore>| turns.acquire_owned().await.expect("it is never closed");
        Turn { _skill: wait(of_skill).await, _all: wait(Arc::clone(&self.all)).await }
    }

    fn of_skill(&self, skill: &str) -> Arc<Semaphore> {
        let mut skills = self.skills.lock().unwrap_or_else(PoisonError::into_inner);
        // Those in use have another owner: a permit, or a request that waits for one.
        skills.retain(|_, turns| Arc::strong_count(turns) > 1);
        Arc::clone(skills.entry(skill.to_owned()).or_insert_with(|| Arc::new(Semaphore::new(1))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::Future;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    fn poll<F: Future>(future: std::pin::Pin<&mut F>) -> Option<F::Output> {
        match future.poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(output) => Some(output),
            Poll::Pending => None,
        }
    }

    #[test]
    fn a_skill_that_compiles_leaves_room_for_others() {
        let compilations = Compilations::new();
        let first = poll(pin!(compilations.turn("greedy"))).expect("nothing compiles");
        let mut second = pin!(compilations.turn("greedy"));
        assert!(poll(second.as_mut()).is_none(), "one at a time");
        let other = poll(pin!(compilations.turn("other"))).expect("it is another skill");
        let mut third = pin!(compilations.turn("third"));
        assert!(poll(third.as_mut()).is_none(), "few at once");
        drop(other);
        assert!(poll(third.as_mut()).is_some());
        drop(first);
        assert!(poll(second.as_mut()).is_some());
    }

    #[test]
    fn skills_that_no_longer_compile_are_forgotten() {
        let compilations = Compilations::new();
        for skill in 0..100 {
            drop(poll(pin!(compilations.turn(&skill.to_string()))));
        }
        assert_eq!(compilations.skills.lock().unwrap().len(), 1);
    }
}
