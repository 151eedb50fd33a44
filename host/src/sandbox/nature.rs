//! Time and chance as a guest sees them: real, or the same in every run.

use crate::private;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};
use wasmtime_wasi::{HostWallClock, WasiCtxBuilder};

/// The moment at which a deterministic run begins: the first second of 2000.
const BEGINNING: Duration = Duration::from_hours(262_968);

/// How far a deterministic clock goes each time somebody looks at it, in nanoseconds. A loop that waits for time ends.
const STEP: u64 = 1_000;

/// Where the chance of deterministic runs comes from.
const SEED: u64 = 0x5eed_0f5c_111c_e11d;

#[derive(Clone)]
pub enum Nature {
    Real { began: Instant },
    Fixed { passed: Arc<AtomicU64>, chance: Arc<AtomicU64> },
}

impl Nature {
    pub fn new(deterministic: bool) -> Self {
        if deterministic {
            Self::Fixed { passed: Arc::default(), chance: Arc::new(SEED.into()) }
        } else {
            Self::Real { began: Instant::now() }
        }
    }

    /// Gives a component the same wall clock and the same chance. Its other clock stays real, or its timers would never end.
    pub fn give_to(&self, wasi: &mut WasiCtxBuilder) {
        wasi.wall_clock(self.clone());
        if let Self::Fixed { .. } = self {
            let mut bytes = vec![0; 4096];
            self.fill(&mut bytes);
            wasi.secure_random(wasmtime_wasi::Deterministic::new(bytes.clone()));
            wasi.insecure_random(wasmtime_wasi::Deterministic::new(bytes)).insecure_random_seed(SEED.into());
        }
    }

    pub fn wall_clock(&self) -> Duration {
        match self {
            Self::Real { .. } => SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default(),
            Self::Fixed { .. } => BEGINNING + Duration::from_nanos(self.monotonic_clock()),
        }
    }

    pub fn monotonic_clock(&self) -> u64 {
        match self {
            Self::Real { began } => u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX),
            Self::Fixed { passed, .. } => passed.fetch_add(STEP, Ordering::Relaxed),
        }
    }

    /// The guest waited. A real clock knows by itself.
    pub fn passed(&self, time: Duration) {
        if let Self::Fixed { passed, .. } = self {
            passed.fetch_add(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
        }
    }

    pub fn fill(&self, bytes: &mut [u8]) {
        match self {
            Self::Real { .. } => private::fill(bytes).expect("the operating system has random numbers"),
            Self::Fixed { chance, .. } => {
                for chunk in bytes.chunks_mut(8) {
                    let state = chance.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed);
                    chunk.copy_from_slice(&mixed(state).to_le_bytes()[..chunk.len()]);
                }
            }
        }
    }
}

/// SplitMix64, which spreads a counter over all bits.
fn mixed(mut state: u64) -> u64 {
    state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    state ^ (state >> 31)
}

impl HostWallClock for Nature {
    fn resolution(&self) -> Duration {
        Duration::from_nanos(1)
    }

    fn now(&self) -> Duration {
        self.wall_clock()
    }
}
