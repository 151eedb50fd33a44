"""What a binary says about the platform that it runs on."""

import struct
from dataclasses import dataclass

from failure import Failed

# Libraries that every distribution of the tagged age has (PEP 600).
MANYLINUX = {"libc.so.6", "libm.so.6", "libgcc_s.so.1", "libdl.so.2", "libpthread.so.0", "librt.so.1", "libz.so.1"}
LOADERS = {"ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}

ELF_MACHINES = {62: "x86_64", 183: "aarch64"}
MACH_MACHINES = {0x0100_0007: "x86_64", 0x0100_000C: "aarch64"}
NPM_CPUS = {"x86_64": "x64", "aarch64": "arm64"}

NOTE_OF_NEEDS = 0x6FFF_FFFE
SYMBOLS, DYNAMIC = 2, 6
NEEDED = 1
BUILD_VERSION, MINIMUM_VERSION = 0x32, 0x24


@dataclass
class Platform:
    """Its names: for Rust, for PyPI, and for npm."""

    target: str
    wheel_tag: str
    npm: str
    npm_fields: dict


def inspect(binary):
    """Returns the platform of a binary, or None if no packages are made for it."""
    if binary[:6] == b"\x7fELF\x02\x01":
        return inspect_elf(Elf(binary))
    if binary[:4] == b"\xcf\xfa\xed\xfe":
        return inspect_mach(binary)
    return None


def has_symbols(binary):
    is_elf = binary[:6] == b"\x7fELF\x02\x01"
    return not is_elf or any(section.kind == SYMBOLS for section in Elf(binary).sections)


def inspect_elf(elf):
    machine = ELF_MACHINES.get(elf.machine)
    libraries = elf.needed_libraries()
    if machine is None:
        return None
    if not libraries:
        return linux(machine, "musl", f"musllinux_1_2_{machine}")
    strange = libraries - MANYLINUX - LOADERS
    if strange:
        raise Failed(f"the binary needs {', '.join(sorted(strange))}, which not every Linux has")
    major, minor = max(elf.glibc_versions())
    return linux(machine, "gnu", f"manylinux_{major}_{minor}_{machine}")


def linux(machine, libc, tag):
    cpu = NPM_CPUS[machine]
    fields = {"os": ["linux"], "cpu": [cpu], "libc": ["glibc" if libc == "gnu" else libc]}
    return Platform(f"{machine}-unknown-linux-{libc}", tag, f"linux-{cpu}-{libc}", fields)


def inspect_mach(binary):
    machine = MACH_MACHINES.get(struct.unpack_from("<I", binary, 4)[0])
    if machine is None:
        return None
    major, minor = mach_minimum(binary)
    cpu = NPM_CPUS[machine]
    tag = f"macosx_{major}_{minor}_{'arm64' if cpu == 'arm64' else machine}"
    return Platform(f"{machine}-apple-darwin", tag, f"darwin-{cpu}", {"os": ["darwin"], "cpu": [cpu]})


def mach_minimum(binary):
    """The oldest macOS that the program says it runs on. From 11 on, wheels have no minor versions."""
    commands, place = struct.unpack_from("<I", binary, 16)[0], 32
    for _ in range(commands):
        command, size = struct.unpack_from("<II", binary, place)
        if command in (BUILD_VERSION, MINIMUM_VERSION):
            version = struct.unpack_from("<I", binary, place + (12 if command == BUILD_VERSION else 8))[0]
            major, minor = version >> 16, version >> 8 & 0xFF
            return major, 0 if major >= 11 else minor
        place += size
    raise Failed("the binary does not say which macOS it needs")


@dataclass
class Section:
    kind: int
    offset: int
    size: int
    link: int


class Elf:
    """The parts of a 64-bit little-endian ELF file that tell what it needs."""

    def __init__(self, binary):
        self.binary = binary
        self.machine = struct.unpack_from("<H", binary, 18)[0]
        start = struct.unpack_from("<Q", binary, 40)[0]
        size, count = struct.unpack_from("<HH", binary, 58)
        self.sections = [self.section(start + number * size) for number in range(count)]

    def section(self, place):
        _, kind, _, _, offset, size, link = struct.unpack_from("<IIQQQQI", self.binary, place)
        return Section(kind, offset, size, link)

    def text(self, strings, place):
        start = strings.offset + place
        return self.binary[start : self.binary.index(b"\0", start)].decode()

    def of_kind(self, kind):
        return [section for section in self.sections if section.kind == kind]

    def needed_libraries(self):
        found = set()
        for section in self.of_kind(DYNAMIC):
            for place in range(section.offset, section.offset + section.size, 16):
                tag, value = struct.unpack_from("<qQ", self.binary, place)
                if tag == NEEDED:
                    found.add(self.text(self.sections[section.link], value))
        return found

    def glibc_versions(self):
        """All versions of the C library in which symbols were introduced that the program uses."""
        found = set()
        for section in self.of_kind(NOTE_OF_NEEDS):
            strings, place = self.sections[section.link], section.offset
            while True:
                _, count, _, entry, following = struct.unpack_from("<HHIII", self.binary, place)
                entry += place
                for _ in range(count):
                    _, _, _, name, next_entry = struct.unpack_from("<IHHII", self.binary, entry)
                    version = self.text(strings, name)
                    if version.startswith("GLIBC_2."):
                        found.add((2, int(version.split(".")[1])))
                    entry += next_entry
                if following == 0:
                    break
                place += following
        return found
