"""The folders of a conformance run, and the installation of the clients."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
import venv
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parent.parent

# Transitive dependencies are resolved as of this day, so that runs are reproducible.
NPM_AS_OF = "2026-11-15"
PYTHON_CLIENTS = ["python_v1", "python_v2"]

INSTALL_SECONDS = 300
STEP_SECONDS = 120


class Failed(Exception):
    """A step failed; the text is the reason."""


def step(failures, name, action):
    """Runs a step and prints its result. A failure does not prevent the other steps."""
    started = time.monotonic()
    try:
        summary = action()
    except Failed as failure:
        failures.append(name)
        print(f"FAILED {name}\n{indented(str(failure))}", flush=True)
    else:
        print(f"ok     {name}{f': {summary}' if summary else ''} ({time.monotonic() - started:.1f} s)", flush=True)


class Workspace:
    """The folders, the binary and the environment of a run."""

    def __init__(self, installed, temporary, binary):
        self.installed = installed
        self.temporary = temporary
        self.binary = binary
        self.commands = installed / "node_modules/.bin"
        self.home = temporary / "home"
        self.home.mkdir()
        self.installed.mkdir(parents=True, exist_ok=True)
        self.environment = {**os.environ, "HOME": str(self.home), "NO_COLOR": "1"}
        # The suite and the Inspector need Node 22, which is installed as a package.
        self.environment["PATH"] = f"{self.commands}{os.pathsep}{os.environ['PATH']}"
        for key in list(self.environment):
            if key.startswith(("SKILLCELL_", "SKILLS_", "XDG_")):
                del self.environment[key]

    def library(self, name):
        """Returns a fresh copy of the bundled skills, which a client may change."""
        copy = self.temporary / "libraries" / name
        shutil.copytree(REPOSITORY / "fixtures/skills", copy)
        return copy

    def run(self, command, log, **variables):
        """Runs a client and returns its output, which is also written to `log`."""
        environment = {**self.environment, **variables}
        return run(command, environment, self.temporary, STEP_SECONDS, self.temporary / log)

    def typescript(self):
        """Returns the command of the TypeScript client, copied next to the packages, where Node looks for them."""
        return ["node", shutil.copy(HERE / "clients/typescript.mjs", self.installed)]


def run(command, environment, folder, seconds, log=Path(os.devnull)):
    command = [str(part) for part in command]
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        try:
            code = subprocess.run(
                command, env=environment, cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=err, timeout=seconds
            ).returncode
        except subprocess.TimeoutExpired:
            code = f"a timeout after {seconds} s"
        done = Output(*(file.seek(0) or file.read() for file in (out, err)))
    log.write_text(done.out + done.err)
    if code != 0:
        raise Failed(f"{' '.join(command)}\nended with {code}\n{tail(done.out)}{tail(done.err)}")
    return done


class Output(NamedTuple):
    """The output of a program."""

    out: str
    err: str


def install(workspace):
    if sys.version_info < (3, 10):
        raise Failed(f"the Python clients need Python 3.10, and this is {sys.version.split()[0]}")
    with ThreadPoolExecutor() as pool:
        jobs = [pool.submit(install_npm, workspace), *(pool.submit(install_python, workspace, it) for it in PYTHON_CLIENTS)]
        for job in jobs:
            job.result()


def install_npm(workspace):
    wanted = (HERE / "package.json").read_text()
    if is_done(workspace, "npm", wanted):
        return
    if shutil.which("npm") is None:
        raise Failed("npm is not on the PATH")
    shutil.rmtree(workspace.installed / "node_modules", ignore_errors=True)
    (workspace.installed / "package.json").write_text(wanted)
    command = ["npm", "install", f"--before={NPM_AS_OF}", "--cache", workspace.temporary / "npm"]
    install_with([*command, "--no-package-lock", "--no-audit", "--no-fund", "--no-update-notifier"], workspace.installed)
    if not (workspace.commands / "node").exists():
        raise Failed("npm did not install Node: did it run the install script of the package `node`?")
    mark_done(workspace, "npm", wanted)


def install_python(workspace, client):
    requirements = HERE / f"clients/{client}.txt"
    wanted = requirements.read_text()
    if is_done(workspace, client, wanted):
        return
    folder = workspace.installed / client
    venv.create(folder, clear=True, symlinks=True, with_pip=True)
    pip = [folder / "bin/python", "-m", "pip", "--quiet", "--no-cache-dir", "--disable-pip-version-check"]
    install_with([*pip, "install", "-r", requirements], workspace.installed)
    mark_done(workspace, client, wanted)


def is_done(workspace, name, wanted):
    done = workspace.installed / f"{name}.done"
    return done.is_file() and done.read_text() == wanted


def mark_done(workspace, name, wanted):
    (workspace.installed / f"{name}.done").write_text(wanted)


def install_with(command, folder):
    """Runs an installer with the settings of the user, but without their caches."""
    run(command, os.environ, folder, INSTALL_SECONDS)


def tail(text, lines=40, width=500):
    return "".join(f"{line[:width]}\n" for line in text.splitlines()[-lines:])


def indented(text):
    return "\n".join(f"    {line}" for line in text.splitlines())
