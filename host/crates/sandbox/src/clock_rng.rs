//! The clocks and random numbers of a guest: real, or the same in every run.

use base::user_files;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};
use wasmtime_wasi::{HostWallClock, WasiCtxBuilder};

/// The time at which a deterministic run starts: the first second of 2000.
const START: Duration = Duration::from_hours(262_968);

/// A deterministic clock advances by this each time it is read, in nanoseconds, so that a loop waiting for time ends.
const STEP: u64 = 1_000;

/// The seed of deterministic runs.
const SEED: u64 = 0x5eed_0f5c_111c_e11d;

/// The deterministic one holds the nanoseconds since its start, and the state of its generator.
#[derive(Clone)]
pub enum ClockRng {
    Real { started: Instant },
    Deterministic { elapsed: Arc<AtomicU64>, rng: Arc<AtomicU64> },
}

impl ClockRng {
    pub fn new(deterministic: bool) -> Self {
        if deterministic {
            Self::Deterministic { elapsed: Arc::default(), rng: Arc::new(SEED.into()) }
        } else {
            Self::Real { started: Instant::now() }
        }
    }

    /// Configures the wall clock and random numbers of a component. Its monotonic clock stays real, or its timers would
    /// never fire.
    pub fn configure(&self, wasi: &mut WasiCtxBuilder) {
        wasi.wall_clock(self.clone());
        if let Self::Deterministic { .. } = self {
            let mut bytes = vec![0; 4096];
            self.fill_random(&mut bytes);
            wasi.secure_random(wasmtime_wasi::Deterministic::new(bytes.clone()));
            wasi.insecure_random(wasmtime_wasi::Deterministic::new(bytes)).insecure_random_seed(SEED.into());
        }
    }

    pub fn monotonic_clock(&self) -> u64 {
        match self {
            Self::Real { started } => u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX),
            Self::Deterministic { elapsed, .. } => elapsed.fetch_add(STEP, Ordering::Relaxed),
        }
    }

    /// Advances a deterministic clock after the guest waited.
    pub fn advance(&self, time: Duration) {
        if let Self::Deterministic { elapsed, .. } = self {
            elapsed.fetch_add(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
        }
    }

    pub fn fill_random(&self, bytes: &mut [u8]) {
        match self {
            Self::Real { .. } => user_files::fill_random(bytes).expect("the operating system provides random numbers"),
            Self::Deterministic { rng, .. } => {
                for chunk in bytes.chunks_mut(8) {
                    let state = rng.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed);
                    chunk.copy_from_slice(&split_mix(state).to_le_bytes()[..chunk.len()]);
                }
            }
        }
    }
}

/// The output function of SplitMix64, which spreads a counter over all bits.
fn split_mix(mut state: u64) -> u64 {
    state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    state ^ (state >> 31)
}

impl HostWallClock for ClockRng {
    fn resolution(&self) -> Duration {
        Duration::from_nanos(1)
    }

    fn now(&self) -> Duration {
        match self {
            Self::Real { .. } => SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default(),
            Self::Deterministic { .. } => START + Duration::from_nanos(self.monotonic_clock()),
        }
    }
}
