//! Imports that are about no file: arguments, variables, clocks, chance, waiting, the end.

use super::numbers::Errno;
use super::{GuestBytes, MODULE, with};
use crate::sandbox::state::ScriptState;
use std::time::Duration;
use wasmtime::{Caller, Linker};
use wasmtime_wasi::I32Exit;

/// Most events that one wait is for.
const MOST_EVENTS: u32 = 1024;

/// Most random bytes between two looks at the clock.
const RANDOM_AT_ONCE: usize = 1 << 20;

type Call<'a> = Caller<'a, ScriptState>;

pub fn add_to_linker(linker: &mut Linker<ScriptState>) -> wasmtime::Result<()> {
    linker.func_wrap(MODULE, "args_sizes_get", |mut call: Call<'_>, count: u32, size: u32| {
        with(&mut call, |bytes, state| sizes(bytes, &state.arguments.clone(), count, size))
    })?;
    linker.func_wrap(MODULE, "args_get", |mut call: Call<'_>, pointers: u32, text: u32| {
        with(&mut call, |bytes, state| texts(bytes, &state.arguments.clone(), pointers, text))
    })?;
    linker.func_wrap(MODULE, "environ_sizes_get", |mut call: Call<'_>, count: u32, size: u32| {
        with(&mut call, |bytes, state| sizes(bytes, &variables(state), count, size))
    })?;
    linker.func_wrap(MODULE, "environ_get", |mut call: Call<'_>, pointers: u32, text: u32| {
        with(&mut call, |bytes, state| texts(bytes, &variables(state), pointers, text))
    })?;
    linker.func_wrap(MODULE, "clock_res_get", |mut call: Call<'_>, clock: u32, into: u32| {
        with(&mut call, |bytes, _| if clock < 4 { bytes.write_u64(into, 1) } else { Err(Errno::INVAL) })
    })?;
    linker.func_wrap(MODULE, "clock_time_get", |mut call: Call<'_>, clock: u32, _: u64, into: u32| {
        with(&mut call, |bytes, state| bytes.write_u64(into, now(state, clock)?))
    })?;
    linker.func_wrap(MODULE, "random_get", |mut call: Call<'_>, into: u32, length: u32| {
        with(&mut call, |bytes, state| {
            for part in bytes.slice_mut(into, length)?.chunks_mut(RANDOM_AT_ONCE) {
                if state.stop.is_due() {
                    break;
                }
                state.nature.fill(part);
            }
            Ok(())
        })
    })?;
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
        |mut call: Call<'_>, (wanted, events, count, happened): (u32, u32, u32, u32)| {
            Box::new(async move {
                let mut wait = None;
                let read = with(&mut call, |bytes, state| {
                    wait = Some(Wait::read(bytes, state, wanted, count)?);
                    Ok(())
                })?;
                let Some(wait) = wait else { return Ok(read) };
                pause(wait.time).await;
                with(&mut call, |bytes, state| {
                    state.nature.passed(wait.time);
                    wait.tell(bytes, events, happened)
                })
            })
        },
    )?;
    no_sockets(linker)
}

/// There is no network in WASI 0.1 here.
fn no_sockets(linker: &mut Linker<ScriptState>) -> wasmtime::Result<()> {
    fn refuse(call: &mut Call<'_>) -> i32 {
        call.data().denials.note("use a socket: this runtime has no network");
        Errno::NOTSUP.0
    }
    linker.func_wrap(MODULE, "sock_accept", |mut call: Call<'_>, _: u32, _: u32, _: u32| refuse(&mut call))?;
    linker.func_wrap(MODULE, "sock_recv", |mut call: Call<'_>, _: u32, _: u32, _: u32, _: u32, _: u32, _: u32| {
        refuse(&mut call)
    })?;
    linker.func_wrap(MODULE, "sock_send", |mut call: Call<'_>, _: u32, _: u32, _: u32, _: u32, _: u32| {
        refuse(&mut call)
    })?;
    linker.func_wrap(MODULE, "sock_shutdown", |mut call: Call<'_>, _: u32, _: u32| refuse(&mut call))?;
    Ok(())
}

fn variables(state: &ScriptState) -> Vec<String> {
    state.variables.iter().map(|(name, value)| format!("{name}={value}")).collect()
}

fn sizes(bytes: &mut GuestBytes<'_>, texts: &[String], count: u32, size: u32) -> Result<(), Errno> {
    let total: usize = texts.iter().map(|text| text.len() + 1).sum();
    bytes.write_u32(count, u32::try_from(texts.len()).map_err(|_| Errno::INVAL)?)?;
    bytes.write_u32(size, u32::try_from(total).map_err(|_| Errno::INVAL)?)
}

fn texts(bytes: &mut GuestBytes<'_>, texts: &[String], mut pointers: u32, mut at: u32) -> Result<(), Errno> {
    for text in texts {
        bytes.write_u32(pointers, at)?;
        bytes.write(at, text.as_bytes())?;
        let length = u32::try_from(text.len()).map_err(|_| Errno::INVAL)?;
        at = at.checked_add(length).ok_or(Errno::FAULT)?;
        bytes.write(at, &[0])?;
        at = at.checked_add(1).ok_or(Errno::FAULT)?;
        pointers = pointers.checked_add(4).ok_or(Errno::FAULT)?;
    }
    Ok(())
}

/// The time of a clock of WASI 0.1, in nanoseconds: 0 is the wall clock, the others only go forward.
fn now(state: &mut ScriptState, clock: u32) -> Result<u64, Errno> {
    match clock {
        0 => Ok(u64::try_from(state.nature.wall_clock().as_nanos()).unwrap_or(u64::MAX)),
        1..4 => Ok(state.nature.monotonic_clock()),
        _ => Err(Errno::INVAL),
    }
}

#[expect(clippy::disallowed_methods, reason = "the guest asked to wait; its limits and its cancellation still hold")]
async fn pause(time: Duration) {
    if time.is_zero() {
        tokio::task::yield_now().await;
    } else {
        tokio::time::sleep(time).await;
    }
}

/// What a guest waits for. Files are always ready, so only a wait for clocks alone takes time.
struct Wait {
    time: Duration,
    ready: Vec<Ready>,
}

struct Ready {
    mark: u64,
    kind: u8,
    time: Option<Duration>,
}

impl Wait {
    fn read(bytes: &GuestBytes<'_>, state: &mut ScriptState, wanted: u32, count: u32) -> Result<Self, Errno> {
        if count == 0 || count > MOST_EVENTS {
            return Err(Errno::INVAL);
        }
        let mut ready = Vec::new();
        for number in 0..count {
            let at = wanted.checked_add(number * 48).filter(|at| *at < u32::MAX - 48).ok_or(Errno::FAULT)?;
            let kind = bytes.slice(at + 8, 1)?[0];
            let time = match kind {
                0 => {
                    let (clock, timeout) = (bytes.u32(at + 16)?, bytes.u64(at + 24)?);
                    let is_moment = bytes.slice(at + 40, 1)?[0] & 1 != 0;
                    let passed = if is_moment { now(state, clock)? } else { 0 };
                    Some(Duration::from_nanos(timeout.saturating_sub(passed)))
                }
                1 | 2 => None,
                _ => return Err(Errno::INVAL),
            };
            ready.push(Ready { mark: bytes.u64(at)?, kind, time });
        }
        let time = ready.iter().map(|ready| ready.time.unwrap_or_default()).min().unwrap_or_default();
        ready.retain(|ready| ready.time.is_none_or(|own| own <= time));
        Ok(Self { time, ready })
    }

    fn tell(&self, bytes: &mut GuestBytes<'_>, events: u32, happened: u32) -> Result<(), Errno> {
        let mut at = events;
        for ready in &self.ready {
            let mut record = [0; 32];
            record[..8].copy_from_slice(&ready.mark.to_le_bytes());
            record[10] = ready.kind;
            bytes.write(at, &record)?;
            at = at.checked_add(32).ok_or(Errno::FAULT)?;
        }
        bytes.write_u32(happened, u32::try_from(self.ready.len()).map_err(|_| Errno::INVAL)?)
    }
}
