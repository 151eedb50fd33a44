"""The bill of materials, in CycloneDX: every crate in the host and in the guests that it carries, as Cargo.lock has it."""

import datetime
import json
import os
import re
import uuid
from dataclasses import dataclass
from pathlib import Path

from release import REPOSITORY, metadata, run

GUESTS = "wasm32-wasip2"
LICENCE_FILES = re.compile(r"(licen[cs]e|copying|notice|unlicense|third_party_licen[cs]es)", re.IGNORECASE)
LINE = re.compile(r"(\d+)\|(\S+) v(\S+)( \(.*\))?\|([^|]*)\|(.*?)( \(\*\))?")


@dataclass(frozen=True, order=True)
class Crate:
    name: str
    version: str
    is_own: bool
    licence: str
    repository: str

    @property
    def purl(self):
        return f"pkg:cargo/{self.name}@{self.version.replace('+', '%2B')}"

    def component(self, checksums):
        found = {"type": "library", "bom-ref": self.purl, "name": self.name, "version": self.version, "purl": self.purl}
        if self.licence:
            # Old crates separate alternatives by a slash.
            found["licenses"] = [{"expression": re.sub(r" */ *", " OR ", self.licence)}]
        if checksum := checksums.get((self.name, self.version)):
            found["hashes"] = [{"alg": "SHA-256", "content": checksum}]
        if self.repository:
            found["externalReferences"] = [{"type": "vcs", "url": self.repository}]
        return found


def write(release, out):
    """Writes the SBOM, and keeps the texts of all licences for the packages."""
    edges = {}
    collect(["skillcell"], release.platform.target, edges)
    collect(guest_packages(), GUESTS, edges)
    crates = sorted(edges)
    release.third_party = licence_texts(crates).encode()
    own = next(crate for crate in crates if crate.name == "skillcell")
    checksums = lock_checksums()
    bill = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, release.digest_of(release.binary))}",
        "version": 1,
        "metadata": {
            "timestamp": datetime.datetime.fromtimestamp(release.time, datetime.timezone.utc).isoformat(),
            "component": own.component({})
            | {
                "type": "application",
                "hashes": [{"alg": "SHA-256", "content": release.digest_of(release.binary)}],
                "properties": [{"name": "cdx:rustc:target", "value": release.platform.target}],
            },
        },
        "components": [crate.component(checksums) for crate in crates if crate != own],
        "dependencies": [
            {"ref": crate.purl, "dependsOn": sorted(needed.purl for needed in edges[crate])} for crate in crates
        ],
    }
    file = out / f"{release.name}.cdx.json"
    file.write_text(f"{json.dumps(bill, indent=1)}\n")
    return file


def guest_packages():
    """The guests that host/artifacts builds into the binary: the engine, and every plugin with a manifest."""
    folders = [REPOSITORY / "engine", *(file.parent for file in REPOSITORY.glob("plugins/*/*/plugin.yaml"))]
    manifests = {str(folder / "Cargo.toml") for folder in folders}
    return [package["name"] for package in metadata("--no-deps")["packages"] if package["manifest_path"] in manifests]


def collect(packages, target, edges):
    """Adds these packages and everything that is linked into them, without macros, tools and tests."""
    command = ["cargo", "tree", "--locked", "--offline", "--edges", "normal,no-proc-macro", "--target", target]
    command += ["--prefix", "depth", "--format", "|{p}|{l}|{r}"]
    above = []
    for line in run([*command, *(f"--package={package}" for package in packages)]).splitlines():
        if not line:
            continue
        depth, name, version, place, licence, repository, _ = LINE.fullmatch(line).groups()
        crate = Crate(name, version, place is not None, licence, repository)
        edges.setdefault(crate, set())
        above[int(depth) :] = [crate]
        if len(above) > 1:
            edges[above[-2]].add(crate)


def lock_checksums():
    lock = (REPOSITORY / "Cargo.lock").read_text()
    pattern = r'name = "([^"]+)"\nversion = "([^"]+)"\nsource = "[^"]+"\nchecksum = "([0-9a-f]{64})"'
    return {(name, version): checksum for name, version, checksum in re.findall(pattern, lock)}


def licence_texts(crates):
    """The licence files of all crates of others, each text once, under the crates that have it."""
    registries = Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo")) / "registry/src"
    holders, silent = {}, []
    for crate in crates:
        if crate.is_own:
            continue
        # Libraries in C lie one or two folders deeper.
        folder = f"*/{crate.name}-{crate.version}"
        sources = sorted(file for depth in ["*", "*/*", "*/*/*"] for file in registries.glob(f"{folder}/{depth}"))
        files = [file for file in sources if file.is_file() and LICENCE_FILES.match(file.name)]
        # The same crate may have been unpacked from several registries.
        texts = {file.read_text(encoding="utf-8", errors="replace").strip(): None for file in files}
        if not texts:
            silent.append(f"{crate.name} {crate.version}: {crate.licence}")
        for text in texts:
            holders.setdefault(text, []).append(f"{crate.name} {crate.version}")
    parts = [f"{', '.join(names)}\n\n{text}\n" for text, names in holders.items()]
    if silent:
        parts.append("\n".join(["These come without the text of their licence:\n", *silent, ""]))
    return f"\n{'-' * 100}\n\n".join(parts)
