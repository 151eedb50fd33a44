//! On Linux the server forbids itself to start programs.
//!
//! Nothing in it does so anyway. The kernel's refusal holds even for native code that got into the process through a bug.

#[derive(Debug, thiserror::Error)]
#[error("the kernel did not take the filter that forbids starting programs: {0}")]
pub struct NotLocked(String);

/// Forbids `execve` to this thread and every thread and process that it starts from now on. There is no way back.
#[cfg(target_os = "linux")]
pub fn forbid_programs() -> Result<(), NotLocked> {
    use seccompiler::{BpfProgram, SeccompAction, SeccompFilter};

    let failed = |error: &dyn std::fmt::Display| NotLocked(error.to_string());
    let forbidden = PROGRAM_CALLS.iter().map(|call| (*call, Vec::new())).collect();
    let architecture = std::env::consts::ARCH.try_into().map_err(|error: seccompiler::BackendError| failed(&error))?;
    let refusal = SeccompAction::Errno(rustix::io::Errno::PERM.raw_os_error().cast_unsigned());
    let filter = SeccompFilter::new(forbidden, SeccompAction::Allow, refusal, architecture);
    let program: Result<BpfProgram, _> = filter.map_err(|error| failed(&error))?.try_into();
    seccompiler::apply_filter(&program.map_err(|error| failed(&error))?).map_err(|error| failed(&error))
}

/// `execve` and `execveat`. On x86-64 each also has a number for programs with short pointers.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
const PROGRAM_CALLS: [i64; 4] = [59, 322, 0x4000_0000 + 520, 0x4000_0000 + 545];

#[cfg(all(target_os = "linux", target_arch = "aarch64"))]
const PROGRAM_CALLS: [i64; 2] = [221, 281];

/// Elsewhere there is no such filter.
#[cfg(not(target_os = "linux"))]
pub fn forbid_programs() -> Result<(), NotLocked> {
    Ok(())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn even_native_code_in_the_process_cannot_start_a_program() {
        let start = || std::process::Command::new("/bin/true").status();
        assert!(start().unwrap().success(), "programs start before the filter");
        // The filter is for this thread and what it starts, so the other tests are not concerned.
        let locked = std::thread::spawn(move || {
            forbid_programs().unwrap();
            let refused = start().unwrap_err();
            let inherited = std::thread::spawn(move || start().unwrap_err().raw_os_error()).join().unwrap();
            (refused.raw_os_error(), inherited)
        });
        let denied = Some(rustix::io::Errno::PERM.raw_os_error());
        assert_eq!(locked.join().unwrap(), (denied, denied));
        assert!(start().unwrap().success(), "other threads are as before");
    }
}
