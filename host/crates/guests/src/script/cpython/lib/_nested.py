"""`subprocess.Popen` for the sandbox: the host runs another guest on the same files while this one waits.

A process runs when it is created, or, if it has a pipe as standard input, once that is closed: nothing runs at the same time.
"""

import errno
import io
import os
import subprocess
import sys
from subprocess import DEVNULL, PIPE, STDOUT, TimeoutExpired

import _bashkit


class _Input(io.BytesIO):
    """Standard input of a process that has not started."""

    def __init__(self, process):
        super().__init__()
        self._process = process

    def close(self):
        if not self.closed:
            given = self.getvalue()
            super().close()
            self._process._run(given)

    def fileno(self):
        raise io.UnsupportedOperation("a pipe to a nested run has no descriptor")


class Popen:
    def __init__(self, args, bufsize=-1, executable=None, stdin=None, stdout=None, stderr=None, preexec_fn=None,
                 close_fds=True, shell=False, cwd=None, env=None, universal_newlines=None, startupinfo=None,
                 creationflags=0, restore_signals=True, start_new_session=False, pass_fds=(), *, user=None, group=None,
                 extra_groups=None, encoding=None, errors=None, text=None, umask=-1, pipesize=-1, process_group=None):
        if isinstance(args, (str, bytes, os.PathLike)):
            command = [os.fsdecode(args)]
        else:
            command = [os.fsdecode(part) for part in args]
        if not command:
            raise ValueError("the list of arguments is empty")
        if shell:
            command = ["/bin/sh", "-c", *command]
        elif isinstance(args, (str, bytes)) and " " in command[0] and not os.path.exists(command[0]):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), command[0])
        if executable is not None:
            command[0] = os.fsdecode(executable)
        if any("\0" in part for part in command):
            raise ValueError("embedded null byte")
        self.args = args
        self.pid = 2
        self.returncode = None
        self._text = bool(text or universal_newlines or encoding or errors)
        self._encoding, self._errors = encoding, errors
        self.text_mode = self._text
        self._command = command
        self._folder = os.getcwd() if cwd is None else os.path.abspath(os.fsdecode(cwd))
        if cwd is not None and not os.path.isdir(self._folder):
            code = errno.ENOTDIR if os.path.exists(self._folder) else errno.ENOENT
            raise OSError(code, os.strerror(code), os.fsdecode(cwd))
        variables = os.environ if env is None else env
        self._variables = [(os.fsdecode(name), os.fsdecode(value)) for name, value in variables.items()]
        self._to = stdout, stderr
        self._timeout = _timeout_of_caller()
        self._started = False
        self.stdin = self.stdout = self.stderr = None
        if stdin == PIPE:
            self.stdin = self._as_text(_Input(self), write_through=True)
        else:
            self._run(_content(stdin))

    def __class_getitem__(cls, item):
        return cls

    def _as_text(self, stream, **options):
        if not self._text:
            return stream
        return io.TextIOWrapper(stream, encoding=self._encoding or "utf-8", errors=self._errors, **options)

    def _run(self, stdin):
        if self._started:
            return
        self._started = True
        stdout, stderr = self._to
        fields = [("arg", part) for part in self._command]
        fields += [("folder", self._folder)]
        fields += [("variable", f"{name}={value}") for name, value in self._variables]
        fields += [("stdout", "inherit" if stdout is None else "capture")]
        fields += [("stderr", "inherit" if stderr is None else "output" if stderr == STDOUT else "capture")]
        code, found, body = _bashkit.http("RUN", "skillcell:programs", fields, stdin, self._timeout)
        answer = dict(found)
        if "failure" in answer:
            code = errno.ENOENT if answer["failure"] == "not-found" else errno.EAGAIN
            raise OSError(code, os.strerror(code), self._command[0])
        size = int(answer["stdout"])
        self.returncode = code if answer["ended"] == "exited" else None
        self.stdout = self._deliver(stdout, body[:size])
        self.stderr = self._deliver(stderr, body[size:])
        if self.returncode is None:
            self.returncode = -9
            raise TimeoutExpired(self.args, self._timeout, body[:size] or None, body[size:] or None)

    def _deliver(self, to, content):
        if to == PIPE:
            return self._as_text(io.BytesIO(content))
        if to is not None and to not in (DEVNULL, STDOUT):
            if isinstance(to, int):
                os.write(to, content)
            else:
                to.flush()
                os.write(to.fileno(), content)
        return None

    def communicate(self, input=None, timeout=None):
        if self.stdin is not None:
            self._timeout = timeout
            if input:
                self.stdin.write(input)
            self.stdin.close()
        elif input:
            raise ValueError("Cannot send input: standard input is not a pipe")
        return tuple(None if stream is None else stream.read() for stream in (self.stdout, self.stderr))

    def wait(self, timeout=None):
        if self.stdin is not None:
            self._timeout = timeout
            self.stdin.close()
        return self.returncode

    def poll(self):
        return self.returncode

    def send_signal(self, signal):
        pass

    def kill(self):
        pass

    terminate = kill

    def __enter__(self):
        return self

    def __exit__(self, kind, value, traceback):
        for stream in (self.stdout, self.stderr):
            if stream is not None:
                stream.close()
        if kind is None:
            self.wait()

    def __repr__(self):
        return f"<Popen: returncode: {self.returncode} args: {self.args!r}>"


def _timeout_of_caller():
    """The timeout of `subprocess.run` and `call`, which they give only to `wait` and `communicate`."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_globals is not vars(subprocess):
        frame = frame.f_back
    return None if frame is None else frame.f_locals.get("timeout", frame.f_locals.get("kwargs", {}).get("timeout"))


def _content(stdin):
    """What a process reads that was given this as its standard input. One that inherits it finds it at its end."""
    if stdin is None or stdin == DEVNULL:
        return b""
    if isinstance(stdin, int):
        with os.fdopen(os.dup(stdin) if hasattr(os, "dup") else stdin, "rb", closefd=hasattr(os, "dup")) as file:
            return file.read()
    content = stdin.read()
    return content.encode() if isinstance(content, str) else content


subprocess.Popen = Popen
