"""What all packages share: the binary, its version and platform, and files with fixed times and owners."""

import gzip
import hashlib
import io
import json
import os
import shutil
import subprocess
import tarfile
from dataclasses import dataclass
from pathlib import Path

import executable
from failure import Failed

REPOSITORY = Path(__file__).resolve().parents[2]
LICENCES = ["LICENSE-APACHE", "LICENSE-MIT"]

# The earliest time that a zip archive can store.
EARLIEST = 315_532_800


@dataclass
class Release:
    """One version of the program for one platform."""

    binary: Path  # a stripped copy
    platform: executable.Platform
    metadata: dict  # of cargo
    commit: str | None
    time: int  # of all files, in seconds
    compression: int
    stage: Path

    @classmethod
    def of(cls, binary, stage, compression):
        if not binary.is_file():
            raise Failed(f"{binary} does not exist\nhint: cargo build --release")
        copy = stage / "skillcell"
        shutil.copyfile(binary, copy)
        copy.chmod(0o755)
        if executable.has_symbols(copy.read_bytes()):
            strip(copy)
        platform = executable.inspect(copy.read_bytes())
        if platform is None:
            raise Failed(f"{binary} is not a program for a platform that packages are made for")
        release = cls(copy, platform, metadata("--no-deps"), None, source_time(), compression, stage)
        release.commit = release.check_version()
        return release

    @property
    def package(self):
        return next(package for package in self.metadata["packages"] if package["name"] == "skillcell")

    @property
    def version(self):
        return self.package["version"]

    @property
    def name(self):
        """Of the files that belong to one version and platform."""
        return f"skillcell-{self.version}-{self.platform.target}"

    def check_version(self):
        """Refuses a binary of another version, and returns the commit that it was built from, if it knows."""
        lines = self.run("--version").splitlines()
        if lines[0] != f"skillcell {self.version}":
            raise Failed(f"the binary says `{lines[0]}`, and Cargo.toml says {self.version}\nhint: cargo build --release")
        said = dict(line.split(": ", 1) for line in lines[1:])
        return said["commit"] if said["commit"] != "unknown" else None

    def run(self, *arguments):
        return run([self.binary, *arguments])

    def digest_of(self, file):
        return hashlib.sha256(file.read_bytes()).hexdigest()

    def write_tar(self, file, entries):
        """Writes a tar.gz with the entries {path: (bytes, mode)}, the same bytes every time."""
        with open(file, "wb") as raw, gzip.GzipFile("", "wb", self.compression, raw, self.time) as packed:
            with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar:
                for path, (content, mode) in sorted(entries.items()):
                    entry = tarfile.TarInfo(path)
                    entry.size, entry.mode, entry.mtime = len(content), mode, self.time
                    tar.addfile(entry, io.BytesIO(content))
        return file

    def licence_files(self):
        return {name: ((REPOSITORY / name).read_bytes(), 0o644) for name in LICENCES}


def run(command, folder=REPOSITORY):
    done = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        raise Failed(f"`{' '.join(map(str, command))}` failed: {done.stderr.strip()}")
    return done.stdout


def strip(file):
    if shutil.which("strip") is None:
        raise Failed("the binary has symbols, and there is no `strip`\nhint: install binutils, or build it stripped")
    run(["strip", file])


def metadata(*options):
    command = ["cargo", "metadata", "--locked", "--offline", "--format-version", "1", *options]
    return json.loads(run(command))


def source_time():
    """SOURCE_DATE_EPOCH, else the time of the commit, else a fixed one."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    if given is None and shutil.which("git"):
        command = ["git", "log", "-1", "--format=%ct"]
        done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True)
        given = done.stdout.strip() if done.returncode == 0 else None
    return max(int(given or EARLIEST), EARLIEST)
