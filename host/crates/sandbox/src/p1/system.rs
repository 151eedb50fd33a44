//! Imports other than files: arguments, environment variables, clocks, random numbers, polling and exit.

use super::abi::{Errno, Result};
use super::{GuestMemory, MODULE, with};
use crate::denials::Denial;
use crate::state::ScriptState;
use std::time::Duration;
use wasmtime::{Caller, Linker};
use wasmtime_wasi::{HostWallClock as _, I32Exit};

/// Of one `poll_oneoff`.
const MAX_EVENTS: u32 = 1024;

/// Random bytes between two checks of the deadline.
const RANDOM_CHUNK_BYTES: usize = 1 << 20;

type Call<'a> = Caller<'a, ScriptState>;

pub fn add_to_linker(linker: &mut Linker<ScriptState>) -> wasmtime::Result<()> {
    imports! { linker;
        fn args_sizes_get(memory, state, count: u32, size: u32) {
            write_sizes(memory, &state.granted.argv, count, size)
        }
        fn args_get(memory, state, pointers: u32, text: u32) {
            write_texts(memory, &state.granted.argv, pointers, text)
        }
        fn environ_sizes_get(memory, state, count: u32, size: u32) {
            write_sizes(memory, &variables(state), count, size)
        }
        fn environ_get(memory, state, pointers: u32, text: u32) {
            write_texts(memory, &variables(state), pointers, text)
        }
        fn clock_res_get(memory, _, clock: u32, into: u32) {
            if clock < 4 { memory.write_u64(into, 1) } else { Err(Errno::INVAL) }
        }
        fn clock_time_get(memory, state, clock: u32, _precision: u64, into: u32) {
            memory.write_u64(into, now(state, clock)?)
        }
        fn random_get(memory, state, into: u32, length: u32) {
            for part in memory.slice_mut(into, length)?.chunks_mut(RANDOM_CHUNK_BYTES) {
                if state.stop.is_due() {
                    break;
                }
                state.granted.clock_rng.fill_random(part);
            }
            Ok(())
        }
    }
    linker.func_wrap(MODULE, "proc_exit", |_: Call<'_>, code: u32| -> wasmtime::Result<()> {
        Err(I32Exit(code.cast_signed()).into())
    })?;
    linker.func_wrap(MODULE, "proc_raise", |_: Call<'_>, _: u32| Errno::NOTSUP.0)?;
    linker.func_wrap_async(MODULE, "sched_yield", |_: Call<'_>, (): ()| {
        Box::new(async {
            tokio::task::yield_now().await;
            0
        })
    })?;
    linker.func_wrap_async(
        MODULE,
        "poll_oneoff",
        |mut call: Call<'_>, (subscriptions, events, count, event_count): (u32, u32, u32, u32)| {
            Box::new(async move {
                let mut poll = None;
                let errno = with(&mut call, |memory, state| {
                    poll = Some(Poll::read(memory, state, subscriptions, count)?);
                    Ok(())
                })?;
                let Some(poll) = poll else { return Ok(errno) };
                pause(poll.time).await;
                with(&mut call, |memory, state| {
                    state.granted.clock_rng.advance(poll.time);
                    poll.write_events(memory, events, event_count)
                })
            })
        },
    )?;
    refuse_sockets(linker)
}

/// Modules of WASI 0.1 have no network.
fn refuse_sockets(linker: &mut Linker<ScriptState>) -> wasmtime::Result<()> {
    fn refuse(call: &Call<'_>) -> i32 {
        call.data().granted.denials.note(Denial::NoNetwork("use a socket", "this runtime has no network"));
        Errno::NOTSUP.0
    }
    linker.func_wrap(MODULE, "sock_accept", |call: Call<'_>, _: u32, _: u32, _: u32| refuse(&call))?;
    linker.func_wrap(MODULE, "sock_recv", |call: Call<'_>, _: u32, _: u32, _: u32, _: u32, _: u32, _: u32| {
        refuse(&call)
    })?;
    linker.func_wrap(MODULE, "sock_send", |call: Call<'_>, _: u32, _: u32, _: u32, _: u32, _: u32| refuse(&call))?;
    linker.func_wrap(MODULE, "sock_shutdown", |call: Call<'_>, _: u32, _: u32| refuse(&call))?;
    Ok(())
}

fn variables(state: &ScriptState) -> Vec<String> {
    state.granted.variables.iter().map(|(name, value)| format!("{name}={value}")).collect()
}

fn write_sizes(memory: &mut GuestMemory<'_>, texts: &[String], count: u32, size: u32) -> Result {
    let total: usize = texts.iter().map(|text| text.len() + 1).sum();
    memory.write_u32(count, u32::try_from(texts.len()).map_err(|_| Errno::INVAL)?)?;
    memory.write_u32(size, u32::try_from(total).map_err(|_| Errno::INVAL)?)
}

fn write_texts(memory: &mut GuestMemory<'_>, texts: &[String], mut pointers: u32, mut at: u32) -> Result {
    for text in texts {
        memory.write_u32(pointers, at)?;
        memory.write(at, text.as_bytes())?;
        let length = u32::try_from(text.len()).map_err(|_| Errno::INVAL)?;
        at = at.checked_add(length).ok_or(Errno::FAULT)?;
        memory.write(at, &[0])?;
        at = at.checked_add(1).ok_or(Errno::FAULT)?;
        pointers = pointers.checked_add(4).ok_or(Errno::FAULT)?;
    }
    Ok(())
}

/// Reads a clock, in nanoseconds: 0 is the wall clock, the others are monotonic.
fn now(state: &mut ScriptState, clock: u32) -> Result<u64> {
    match clock {
        0 => Ok(u64::try_from(state.granted.clock_rng.now().as_nanos()).unwrap_or(u64::MAX)),
        1..4 => Ok(state.granted.clock_rng.monotonic_clock()),
        _ => Err(Errno::INVAL),
    }
}

#[expect(clippy::disallowed_methods, reason = "the guest requested to wait; limits and cancellation still apply")]
async fn pause(time: Duration) {
    if time.is_zero() {
        tokio::task::yield_now().await;
    } else {
        tokio::time::sleep(time).await;
    }
}

/// The parameters of `poll_oneoff`. Files are always ready, so only a poll for clocks alone takes time.
struct Poll {
    time: Duration,
    /// The subscriptions that are ready after that time.
    ready: Vec<Subscription>,
}

struct Subscription {
    userdata: u64,
    kind: u8,
    time: Option<Duration>,
}

impl Poll {
    fn read(memory: &GuestMemory<'_>, state: &mut ScriptState, subscriptions: u32, count: u32) -> Result<Self> {
        if count == 0 || count > MAX_EVENTS {
            return Err(Errno::INVAL);
        }
        let mut ready = Vec::new();
        for number in 0..count {
            let at = subscriptions.checked_add(number * 48).filter(|at| *at < u32::MAX - 48).ok_or(Errno::FAULT)?;
            let kind = memory.slice(at + 8, 1)?[0];
            let time = match kind {
                0 => {
                    let (clock, timeout) = (memory.u32(at + 16)?, memory.u64(at + 24)?);
                    let is_absolute = memory.slice(at + 40, 1)?[0] & 1 != 0;
                    let start = if is_absolute { now(state, clock)? } else { 0 };
                    Some(Duration::from_nanos(timeout.saturating_sub(start)))
                }
                1 | 2 => None,
                _ => return Err(Errno::INVAL),
            };
            ready.push(Subscription { userdata: memory.u64(at)?, kind, time });
        }
        let time = ready.iter().map(|subscription| subscription.time.unwrap_or_default()).min().unwrap_or_default();
        ready.retain(|subscription| subscription.time.is_none_or(|own| own <= time));
        Ok(Self { time, ready })
    }

    fn write_events(&self, memory: &mut GuestMemory<'_>, events: u32, event_count: u32) -> Result {
        let mut at = events;
        for subscription in &self.ready {
            memory.write_words(at, [subscription.userdata, u64::from(subscription.kind) << 16, 0, 0])?;
            at = at.checked_add(32).ok_or(Errno::FAULT)?;
        }
        memory.write_u32(event_count, u32::try_from(self.ready.len()).map_err(|_| Errno::INVAL)?)
    }
}
