//! How the process asks the operating system for memory, and gives it back. Only glibc has to be told.

pub use allocator::{answered, keep_together};

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod allocator {
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Most places in which the C library keeps memory that was given back. By default it opens new ones while threads come
    /// and go, and each keeps what it once had; with two, a server under load stays at what it needs.
    const PLACES: libc::c_int = 2;

    /// After so many answers, what is free goes back to the operating system. It takes a millisecond or two.
    const ANSWERS: usize = 4_096;

    #[expect(unsafe_code, reason = "the C library has no other way to be told")]
    pub fn keep_together() {
        // SAFETY: sets a number inside the allocator, before there is a second thread.
        let _ = unsafe { libc::mallopt(libc::M_ARENA_MAX, PLACES) };
    }

    /// Notes that a request was answered.
    #[expect(unsafe_code, reason = "the C library has no other way to be told")]
    pub fn answered() {
        static ANSWERED: AtomicUsize = AtomicUsize::new(1);
        if ANSWERED.fetch_add(1, Ordering::Relaxed).is_multiple_of(ANSWERS) {
            // SAFETY: takes the locks of the allocator, as every allocation does.
            let _ = unsafe { libc::malloc_trim(0) };
        }
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
mod allocator {
    pub fn keep_together() {}

    pub fn answered() {}
}
