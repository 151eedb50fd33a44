"""The archive for people who want neither npm nor Python: also what `cargo binstall` downloads."""

from release import REPOSITORY

COMPLETIONS = {"bash": "skillcell.bash", "zsh": "_skillcell", "fish": "skillcell.fish"}
DOCUMENTS = ["README.md", "CHANGELOG.md"]


def write(release, out, bill):
    files = {"skillcell": (release.binary.read_bytes(), 0o755), "sbom.cdx.json": (bill.read_bytes(), 0o644)}
    files |= release.licence_files()
    files["LICENSES-THIRD-PARTY"] = (release.third_party, 0o644)
    for name in DOCUMENTS:
        files[name] = ((REPOSITORY / name).read_bytes(), 0o644)
    files["skillcell.service"] = ((REPOSITORY / "packaging/systemd/skillcell.service").read_bytes(), 0o644)
    for shell, name in COMPLETIONS.items():
        files[f"completions/{name}"] = (release.run("completions", shell).encode(), 0o644)
    pages = release.stage / "man1"
    release.run("man", pages)
    for page in pages.iterdir():
        files[f"man/man1/{page.name}"] = (page.read_bytes(), 0o644)
    entries = {f"{release.name}/{path}": entry for path, entry in files.items()}
    return release.write_tar(out / f"{release.name}.tar.gz", entries)
