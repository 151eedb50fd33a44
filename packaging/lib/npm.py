"""Two npm packages: the launcher `skillcell`, and the program for one platform, on which the launcher depends."""

import json

from failure import Failed
from release import REPOSITORY

# Every platform of the release workflow; npm installs only the one whose `os`, `cpu` and `libc` fit.
PLATFORMS = ["darwin-arm64", "darwin-x64", "linux-arm64-gnu", "linux-arm64-musl", "linux-x64-gnu", "linux-x64-musl"]


def write_launcher(release, out):
    manifest = common(release) | {
        "name": "skillcell",
        "mcpName": json.loads((REPOSITORY / "server.json").read_text())["name"],
        "bin": {"skillcell": "skillcell.js"},
        "engines": {"node": ">=18"},
        "optionalDependencies": {f"@skillcell/{platform}": release.version for platform in PLATFORMS},
    }
    launcher = (REPOSITORY / "packaging/npm/skillcell.js").read_bytes()
    return pack(release, out, manifest, {"skillcell.js": (launcher, 0o755)})


def write_platform(release, out):
    platform = release.platform
    if platform.npm not in PLATFORMS:
        raise Failed(f"the launcher does not know {platform.npm}")
    manifest = common(release) | {"name": f"@skillcell/{platform.npm}", **platform.npm_fields}
    # Some package managers keep packages zipped otherwise.
    manifest["preferUnplugged"] = True
    files = {"bin/skillcell": (release.binary.read_bytes(), 0o755), "LICENSES-THIRD-PARTY": (release.third_party, 0o644)}
    return pack(release, out, manifest, files)


def common(release):
    package = release.package
    return {
        "version": release.version,
        "description": package["description"],
        "license": package["license"],
        "homepage": package["repository"],
        "repository": {"type": "git", "url": f"git+{package['repository']}.git"},
    }


def pack(release, out, manifest, files):
    name = manifest["name"].removeprefix("@").replace("/", "-")
    files = files | release.licence_files()
    files["README.md"] = ((REPOSITORY / "packaging/README.md").read_bytes(), 0o644)
    files["package.json"] = (f"{json.dumps(manifest, indent=2)}\n".encode(), 0o644)
    entries = {f"package/{path}": entry for path, entry in files.items()}
    return release.write_tar(out / f"{name}-{release.version}.tgz", entries)
