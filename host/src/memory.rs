//! How the process asks the operating system for memory.

/// Most places in which the C library keeps memory that was given back. By default it opens new ones while threads come and
/// go, and each keeps what it once had; with two, a server under load stays at what it needs.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub fn keep_together() {
    const ARENAS: libc::c_int = 2;
    #[expect(unsafe_code, reason = "the C library has no other way to be told")]
    // SAFETY: sets a number inside the allocator, before there is a second thread.
    let _ = unsafe { libc::mallopt(libc::M_ARENA_MAX, ARENAS) };
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn keep_together() {}
