//! Tunes how glibc requests memory from the operating system and returns it. A no-op with other C libraries.

pub use glibc::{limit_arenas, trim_after_answer};

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod glibc {
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// By default, glibc adds arenas as threads come and go, and none gives its memory back. With two, a server under
    /// load keeps only what it needs.
    const MAX_ARENAS: libc::c_int = 2;

    /// Answers between two trims. One takes a millisecond or two.
    const ANSWERS_PER_TRIM: usize = 4_096;

    #[expect(unsafe_code, reason = "the C library has no safe interface for this")]
    pub fn limit_arenas() {
        // SAFETY: sets a number inside the allocator, before there is a second thread.
        let _ = unsafe { libc::mallopt(libc::M_ARENA_MAX, MAX_ARENAS) };
    }

    /// Counts an answered request; every few thousand, returns free memory to the operating system.
    #[expect(unsafe_code, reason = "the C library has no safe interface for this")]
    pub fn trim_after_answer() {
        static ANSWERS: AtomicUsize = AtomicUsize::new(1);
        if ANSWERS.fetch_add(1, Ordering::Relaxed).is_multiple_of(ANSWERS_PER_TRIM) {
            // SAFETY: takes the locks of the allocator, as every allocation does.
            let _ = unsafe { libc::malloc_trim(0) };
        }
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
mod glibc {
    pub fn limit_arenas() {}

    pub fn trim_after_answer() {}
}
