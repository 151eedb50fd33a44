"""How the packages were built: an in-toto statement with SLSA provenance, not signed. The release workflow signs its own."""

import json
import os
from pathlib import Path

from release import REPOSITORY, run


def write(release, out, packages):
    repository = release.package["repository"]
    materials = [{"uri": f"{repository}/blob/HEAD/Cargo.lock", "digest": {"sha256": digest(release, "Cargo.lock")}}]
    if release.commit:
        materials.insert(0, {"uri": f"git+{repository}", "digest": {"gitCommit": release.commit}})
    statement = {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": file.name, "digest": {"sha256": release.digest_of(file)}} for file in sorted(packages)],
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {
            "buildDefinition": {
                "buildType": f"{repository}/blob/v{release.version}/packaging/package",
                "externalParameters": {"repository": repository, "version": release.version},
                "internalParameters": {"target": release.platform.target, "rustc": run(["rustc", "--version"]).strip()},
                "resolvedDependencies": materials,
            },
            "runDetails": {"builder": {"id": builder(repository)}, "metadata": {"invocationId": invocation()}},
        },
    }
    file = out / f"{release.name}.intoto.json"
    file.write_text(f"{json.dumps(statement, indent=1)}\n")
    return file


def digest(release, name):
    return release.digest_of(Path(REPOSITORY / name))


def builder(repository):
    """A workflow run, or somebody's machine, about which nothing can be promised."""
    workflow = os.environ.get("GITHUB_WORKFLOW_REF")
    return f"https://github.com/{workflow}" if workflow else f"{repository}/blob/HEAD/packaging/package#local"


def invocation():
    names = ["GITHUB_SERVER_URL", "GITHUB_REPOSITORY", "GITHUB_RUN_ID", "GITHUB_RUN_ATTEMPT"]
    server, repository, number, attempt = (os.environ.get(name) for name in names)
    return f"{server}/{repository}/actions/runs/{number}/attempts/{attempt}" if number else "local"
