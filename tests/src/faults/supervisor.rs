//! Hands the system calls of a child to a thread of the test, which answers them.

use std::fs::File;
use std::io;
use std::mem::zeroed;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

/// Decides about the calls with these numbers of the process that the command will start. A call is carried out if the
/// decision is `None`.
pub fn supervise(
    command: &mut Command,
    numbers: &[libc::c_long],
    decide: impl Fn(i32, &libc::seccomp_notif) -> Option<Reply> + Send + 'static,
) {
    let (ours, theirs) = UnixStream::pair().expect("two descriptors");
    let filter = filter(numbers);
    #[expect(unsafe_code, reason = "there is no other way to run something before `exec`")]
    // SAFETY: after `fork` it only makes system calls and allocates nothing.
    unsafe {
        command.pre_exec(move || hand_over(&filter, theirs.as_raw_fd()));
    }
    std::thread::spawn(move || {
        // Nothing arrives if the process was never started.
        let Ok(watched) = Watched::receive(&ours) else { return };
        drop(ours);
        watched.serve(decide);
    });
}

/// The answer to a call.
pub enum Reply {
    Error(i32),
    Value(i64),
    Kill,
}

/// A process whose calls are handed over.
struct Watched {
    process: i32,
    listener: OwnedFd,
}

impl Watched {
    /// Answers its calls until it ends.
    fn serve(&self, decide: impl Fn(i32, &libc::seccomp_notif) -> Option<Reply>) {
        while let Some(request) = self.next() {
            let mut reply = libc::seccomp_notif_resp { id: request.id, val: 0, error: 0, flags: 0 };
            match decide(self.process, &request) {
                None => reply.flags = u32::try_from(libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE).expect("it is 1"),
                Some(Reply::Error(number)) => reply.error = -number,
                Some(Reply::Value(value)) => reply.val = value,
                Some(Reply::Kill) => {
                    #[expect(unsafe_code, reason = "a system call")]
                    // SAFETY: it has no memory arguments, and the process is a child that was not waited for.
                    unsafe {
                        libc::kill(self.process, libc::SIGKILL);
                    }
                    continue;
                }
            }
            #[expect(unsafe_code, reason = "a system call")]
            // SAFETY: the structure lives during the call. It fails if the process was killed.
            unsafe {
                libc::ioctl(self.listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_SEND, &raw mut reply);
            }
        }
    }

    /// Waits for the next call. Returns `None` when the process has ended.
    fn next(&self) -> Option<libc::seccomp_notif> {
        loop {
            let mut poll = libc::pollfd { fd: self.listener.as_raw_fd(), events: libc::POLLIN, revents: 0 };
            #[expect(unsafe_code, reason = "system calls")]
            // SAFETY: both structures live during the calls, and the kernel wants the second one zeroed.
            let (request, result) = unsafe {
                libc::poll(&raw mut poll, 1, -1);
                if poll.revents & libc::POLLIN == 0 && poll.revents != 0 {
                    return None;
                }
                let mut request: libc::seccomp_notif = zeroed();
                let result = libc::ioctl(self.listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_RECV, &raw mut request);
                (request, result)
            };
            // It fails if the thread was killed in the meantime.
            if result == 0 {
                return Some(request);
            }
        }
    }

    /// Receives what `hand_over` sent.
    fn receive(socket: &UnixStream) -> io::Result<Self> {
        let mut process = 0_i32;
        let mut message = Message::new(&mut process);
        #[expect(unsafe_code, reason = "the standard library cannot receive descriptors")]
        // SAFETY: the buffers live during the calls. The kernel writes a complete control message, whose descriptor belongs
        // to the caller.
        unsafe {
            let mut header = message.header();
            let received = libc::recvmsg(socket.as_raw_fd(), &raw mut header, libc::MSG_CMSG_CLOEXEC);
            let control = libc::CMSG_FIRSTHDR(&raw const header);
            if received <= 0 || control.is_null() {
                return Err(io::Error::last_os_error());
            }
            let listener = OwnedFd::from_raw_fd(libc::CMSG_DATA(control).cast::<RawFd>().read_unaligned());
            Ok(Self { process, listener })
        }
    }
}

/// A message with a process id and a descriptor.
struct Message {
    part: libc::iovec,
    control: [u64; 4],
}

impl Message {
    fn new(process: &mut i32) -> Self {
        Self {
            part: libc::iovec { iov_base: std::ptr::from_mut(process).cast(), iov_len: size_of::<i32>() },
            control: [0; 4],
        }
    }

    fn header(&mut self) -> libc::msghdr {
        #[expect(unsafe_code, reason = "some fields are private")]
        // SAFETY: all fields are numbers and pointers.
        let mut header: libc::msghdr = unsafe { zeroed() };
        header.msg_iov = &raw mut self.part;
        header.msg_iovlen = 1;
        header.msg_control = self.control.as_mut_ptr().cast();
        #[expect(unsafe_code, reason = "a macro of the C library")]
        // SAFETY: it only computes.
        let space = unsafe { libc::CMSG_SPACE(u32::try_from(size_of::<RawFd>()).expect("4")) };
        header.msg_controllen = space.try_into().expect("it is small");
        header
    }
}

/// Builds the filter: every other call than these is allowed.
fn filter(numbers: &[libc::c_long]) -> Vec<libc::sock_filter> {
    let instruction = |code: u32, k: u32, jt: u8, jf: u8| libc::sock_filter {
        code: u16::try_from(code).expect("codes have 16 bits"),
        jt,
        jf,
        k,
    };
    // The number of the call is the first field of what filters see.
    let mut filter = vec![instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0)];
    for (left, number) in (0..numbers.len()).rev().zip(numbers) {
        let number = u32::try_from(*number).expect("numbers of calls are small");
        let to_the_end = u8::try_from(left + 1).expect("there are few calls");
        filter.push(instruction(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, number, to_the_end, 0));
    }
    filter.push(instruction(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW, 0, 0));
    filter.push(instruction(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_USER_NOTIF, 0, 0));
    filter
}

/// Installs the filter in this process, and sends its listener to the test. Runs between `fork` and `exec`.
fn hand_over(filter: &[libc::sock_filter], socket: RawFd) -> io::Result<()> {
    let length = libc::c_ushort::try_from(filter.len()).map_err(io::Error::other)?;
    let program = libc::sock_fprog { len: length, filter: filter.as_ptr().cast_mut() };
    #[expect(unsafe_code, reason = "system calls")]
    // SAFETY: everything that is passed lives during the calls, and the control message has room for one descriptor.
    unsafe {
        if libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 {
            return Err(io::Error::last_os_error());
        }
        let flags = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER;
        let listener = libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, &raw const program);
        if listener < 0 {
            return Err(io::Error::last_os_error());
        }
        let mut process = libc::getpid();
        let mut message = Message::new(&mut process);
        let header = message.header();
        let control = libc::CMSG_FIRSTHDR(&raw const header);
        (*control).cmsg_level = libc::SOL_SOCKET;
        (*control).cmsg_type = libc::SCM_RIGHTS;
        (*control).cmsg_len = libc::CMSG_LEN(4).try_into().unwrap_or(0);
        libc::CMSG_DATA(control).cast::<RawFd>().write_unaligned(RawFd::try_from(listener).unwrap_or(-1));
        if libc::sendmsg(socket, &raw const header, 0) < 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

/// Duplicates a descriptor of another process. Both share their position in the file.
pub fn descriptor_of(process: i32, number: u64) -> io::Result<File> {
    #[expect(unsafe_code, reason = "system calls")]
    // SAFETY: they have no memory arguments, and return descriptors that belong to the caller.
    unsafe {
        let handle = libc::syscall(libc::SYS_pidfd_open, process, 0);
        if handle < 0 {
            return Err(io::Error::last_os_error());
        }
        let handle = OwnedFd::from_raw_fd(RawFd::try_from(handle).map_err(io::Error::other)?);
        let copy = libc::syscall(libc::SYS_pidfd_getfd, handle.as_raw_fd(), number, 0);
        if copy < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(File::from_raw_fd(RawFd::try_from(copy).map_err(io::Error::other)?))
    }
}
