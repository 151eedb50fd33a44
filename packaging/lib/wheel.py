"""A wheel for PyPI that contains the program as a script, so that `uvx skillcell` and `pipx run skillcell` start it."""

import base64
import hashlib
import time
import zipfile

from release import LICENCES, REPOSITORY


def write(release, out):
    stem = f"skillcell-{release.version}"
    info = f"{stem}.dist-info"
    tag = f"py3-none-{release.platform.wheel_tag}"
    entries = {f"{stem}.data/scripts/skillcell": (release.binary.read_bytes(), 0o755)}
    for name, entry in release.licence_files().items():
        entries[f"{info}/licenses/{name}"] = entry
    entries[f"{info}/licenses/LICENSES-THIRD-PARTY"] = (release.third_party, 0o644)
    entries[f"{info}/METADATA"] = (metadata(release).encode(), 0o644)
    about = f"Wheel-Version: 1.0\nGenerator: skillcell\nRoot-Is-Purelib: false\nTag: {tag}\n"
    entries[f"{info}/WHEEL"] = (about.encode(), 0o644)
    entries[f"{info}/RECORD"] = (record(entries, info).encode(), 0o644)
    file = out / f"{stem}-{tag}.whl"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=release.compression) as wheel:
        # The tools of Python expect the metadata at the end.
        for path, (content, mode) in entries.items():
            entry = zipfile.ZipInfo(path, time.gmtime(release.time)[:6])
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3  # Unix, whatever this machine is
            entry.external_attr = (0o100000 | mode) << 16
            wheel.writestr(entry, content)
    return file


def metadata(release):
    package = release.package
    licences = [*LICENCES, "LICENSES-THIRD-PARTY"]
    fields = [
        ("Metadata-Version", "2.4"),
        ("Name", "skillcell"),
        ("Version", release.version),
        ("Summary", package["description"]),
        ("Project-URL", f"Repository, {package['repository']}"),
        ("License-Expression", package["license"]),
        *(("License-File", name) for name in licences),
        ("Requires-Python", ">=3.8"),
        ("Description-Content-Type", "text/markdown"),
    ]
    lines = "".join(f"{name}: {value}\n" for name, value in fields)
    return f"{lines}\n{(REPOSITORY / 'packaging/README.md').read_text()}"


def record(entries, info):
    def line(path, content):
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        return f"{path},sha256={digest},{len(content)}\n"

    lines = [line(path, content) for path, (content, _) in entries.items()]
    return "".join(lines) + f"{info}/RECORD,,\n"
