//! How the process asks the operating system for memory, and gives it back.

#[cfg(all(target_os = "linux", target_env = "gnu"))]
use std::sync::atomic::{AtomicUsize, Ordering};

/// Most places in which the C library keeps memory that was given back. By default it opens new ones while threads come and
/// go, and each keeps what it once had; with two, a server under load stays at what it needs.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const PLACES: libc::c_int = 2;

/// After so many answers, what is free goes back to the operating system. It takes a millisecond or two.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const ANSWERS: usize = 4_096;

#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "the C library has no other way to be told")]
pub fn keep_together() {
    // SAFETY: sets a number inside the allocator, before there is a second thread.
    let _ = unsafe { libc::mallopt(libc::M_ARENA_MAX, PLACES) };
}

/// Notes that a request was answered.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "the C library has no other way to be told")]
pub fn answered() {
    static ANSWERED: AtomicUsize = AtomicUsize::new(1);
    if ANSWERED.fetch_add(1, Ordering::Relaxed).is_multiple_of(ANSWERS) {
        // SAFETY: takes the locks of the allocator, as every allocation does.
        let _ = unsafe { libc::malloc_trim(0) };
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn keep_together() {}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn answered() {}
