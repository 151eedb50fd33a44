//! Advances the epoch of a wasmtime engine while guests run, which makes them check their deadlines.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;
use wasmtime::Engine;

/// The interval between two checks of a deadline.
pub const TICK: Duration = Duration::from_millis(10);

/// A thread that sleeps while no guest runs, so that an idle server does not wake the machine.
pub struct Ticker {
    shared: Arc<Shared>,
}

struct Shared {
    running: Mutex<usize>,
    changed: Condvar,
}

/// Keeps the clock ticking until it is dropped.
pub struct Ticking<'ticker>(&'ticker Shared);

impl Ticker {
    pub fn start(engine: Engine) -> Self {
        let shared = Arc::new(Shared { running: Mutex::new(0), changed: Condvar::new() });
        let of_thread = Arc::clone(&shared);
        let run = move || loop {
            let mut running = of_thread.running.lock().unwrap_or_else(PoisonError::into_inner);
            while *running == 0 {
                running = of_thread.changed.wait(running).unwrap_or_else(PoisonError::into_inner);
            }
            drop(of_thread.changed.wait_timeout_while(running, TICK, |running| *running > 0));
            engine.increment_epoch();
        };
        std::thread::Builder::new().name("ticker".to_owned()).spawn(run).expect("the system can start a thread");
        Self { shared }
    }

    pub fn tick(&self) -> Ticking<'_> {
        self.shared.change(|running| *running += 1);
        Ticking(&self.shared)
    }
}

impl Shared {
    fn change(&self, change: impl FnOnce(&mut usize)) {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut running);
        if *running <= 1 {
            self.changed.notify_all();
        }
    }
}

impl Drop for Ticking<'_> {
    fn drop(&mut self) {
        self.0.change(|running| *running -= 1);
    }
}
