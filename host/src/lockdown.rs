//! On Linux, a seccomp filter that keeps commands that run guests from starting programs.
//!
//! They never start one, except git's credential helper before the filter; it also stops native code that got into the
//! process through a bug. Only `demo` has none, which runs no guests and starts a server that has.

/// Forbids `execve` for this thread and everything it starts from now on. This cannot be undone.
#[cfg(target_os = "linux")]
pub fn forbid_exec() -> anyhow::Result<()> {
    use seccompiler::{BpfProgram, SeccompAction, SeccompFilter};

    let failed = |error: &dyn std::fmt::Display| {
        anyhow::anyhow!("cannot install the seccomp filter that forbids starting programs: {error}")
    };
    let forbidden = EXEC_SYSCALLS.iter().map(|syscall| (*syscall, Vec::new())).collect();
    let architecture = std::env::consts::ARCH.try_into().map_err(|error: seccompiler::BackendError| failed(&error))?;
    let refusal = SeccompAction::Errno(rustix::io::Errno::PERM.raw_os_error().cast_unsigned());
    let filter = SeccompFilter::new(forbidden, SeccompAction::Allow, refusal, architecture);
    let program: Result<BpfProgram, _> = filter.map_err(|error| failed(&error))?.try_into();
    seccompiler::apply_filter(&program.map_err(|error| failed(&error))?).map_err(|error| failed(&error))?;
    tracing::debug!("no program can be started from here on");
    Ok(())
}

/// `execve` and `execveat`. On x86-64 each also has an x32 number.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
const EXEC_SYSCALLS: [i64; 4] = [59, 322, 0x4000_0000 + 520, 0x4000_0000 + 545];

#[cfg(all(target_os = "linux", target_arch = "aarch64"))]
const EXEC_SYSCALLS: [i64; 2] = [221, 281];

/// Does nothing: the filter exists only on Linux.
#[cfg(not(target_os = "linux"))]
pub fn forbid_exec() -> anyhow::Result<()> {
    Ok(())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn native_code_in_the_process_cannot_start_a_program() {
        let start = || std::process::Command::new("/bin/true").status();
        assert!(start().unwrap().success(), "programs start before the filter");
        // The filter applies to this thread and what it starts, so other tests are unaffected.
        let locked = std::thread::spawn(move || {
            forbid_exec().unwrap();
            let refused = start().unwrap_err();
            let inherited = std::thread::spawn(move || start().unwrap_err().raw_os_error()).join().unwrap();
            (refused.raw_os_error(), inherited)
        });
        let denied = Some(rustix::io::Errno::PERM.raw_os_error());
        assert_eq!(locked.join().unwrap(), (denied, denied));
        assert!(start().unwrap().success(), "other threads are unaffected");
    }
}
