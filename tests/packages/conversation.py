"""A short conversation with a server that some command starts."""

import json
import os
import queue
import resource
import signal
import subprocess
import threading
import time

# Far longer than anything here takes, for busy machines.
PATIENCE_SECONDS = 300

# Variables that change what clients or the server do.
OTHERS = ("SKILL", "npm_", "NPM_", "NODE_", "PIP_", "PIPX_", "UV_", "PYTHON", "XDG_", "VIRTUAL_ENV")


class Failed(Exception):
    """Why a step failed."""


def environment(home):
    """This environment with another home, without what could lead elsewhere."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(OTHERS)}
    return kept | {"HOME": str(home)}


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Server:
    """A process that speaks MCP on its standard streams."""

    def __init__(self, command, home, variables):
        self.command = list(map(str, command))
        self.started = time.monotonic()
        self.log = (home / "server.log").open("w+")
        self.process = subprocess.Popen(
            self.command,
            cwd=home,
            env=environment(home) | variables,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            text=True,
        )
        self.lines = queue.Queue()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def line(self):
        """The next line, or None at the end."""
        try:
            return self.lines.get(timeout=PATIENCE_SECONDS)
        except queue.Empty:
            raise Failed(f"no answer in {PATIENCE_SECONDS} seconds: {self.report()}") from None

    def send(self, message):
        try:
            self.process.stdin.write(f"{json.dumps({'jsonrpc': '2.0', **message})}\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            raise Failed(f"it does not run: {self.report()}") from None

    def ask(self, number, method, parameters):
        self.send({"id": number, "method": method, "params": parameters})
        while (line := self.line()) is not None:
            message = json.loads(line)
            if message.get("id") == number:
                return message
        raise Failed(f"it ended instead of answering: {self.report()}")

    def begin(self):
        client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "packages", "version": "1"}}
        self.ask(1, "initialize", client)
        self.send({"method": "notifications/initialized"})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.log.close()

    def wait(self):
        try:
            return self.process.wait(PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise Failed(f"it does not end: {self.report()}") from None

    def report(self):
        self.log.seek(0)
        return f"{' '.join(self.command)}\n{self.log.read()}"


def answer(command, home, variables):
    """Asks for a skill, checks the answer and a clean end, and returns how long the answer took."""
    with Server(command, home, variables) as server:
        server.begin()
        found = server.ask(2, "tools/call", {"name": "get_skill", "arguments": {"context": "a greeting for a colleague"}})
        took = time.monotonic() - server.started
        text = found.get("result", {}).get("content", [{}])[0].get("text", "")
        if "Say hello." not in text:
            raise Failed(f"not the skill: {found}\n{server.report()}")
        server.process.stdin.close()
        if server.wait() != 0:
            raise Failed(f"it ends with {server.process.returncode}: {server.report()}")
        return f"first answer after {took:.2f} s"


def stops_with(command, home):
    """Checks that a signal to the started process ends it, and whatever it started."""
    with Server(command, home, {}) as server:
        server.begin()
        server.process.send_signal(signal.SIGTERM)
        # The pipe ends when the last process that holds it has ended.
        while server.line() is not None:
            pass
        if server.wait() != 0:
            raise Failed(f"after SIGTERM it ends with {server.process.returncode}: {server.report()}")
