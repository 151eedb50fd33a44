"""A scorer in JavaScript: built as its README says, checked, and used."""

import json

from workspace import REPOSITORY, Failed, step

SOURCE = REPOSITORY / "fixtures/scorers/javascript/scorer.js"


def scorers(workspace, failures):
    step(failures, "scorer javascript", lambda: javascript(workspace))


def javascript(workspace):
    """Builds, checks and uses the scorer."""
    workspace.run([workspace.binary, "plugin", "new", "words", "--into", workspace.temporary], "scorer-new.log")
    built = workspace.temporary / "scorer.wasm"
    options = ["--wit", workspace.temporary / "words/wit", "--world", "scorer", "--sync", "--stub-wasi", "--output", built]
    workspace.run(["componentize-qjs", "--js", SOURCE, *options], "scorer-build.log")
    checked = json.loads(workspace.run([workspace.binary, "plugin", "check", "--json", built], "scorer-check.log").out)
    if checked["world"] != "scorer" or checked["problems"]:
        raise Failed(json.dumps(checked, indent=2))
    options = ["--root", REPOSITORY / "fixtures/skills", "--scorer", built, "--json"]
    task = "the login form component of a react application"
    found = json.loads(workspace.run([workspace.binary, "match", task, *options], "scorer-match.log").out)
    best = found["explain"]["candidates"][0]
    if found["explain"]["scorer"] != built.name or best["skill_path"] != "ui/react/auth":
        raise Failed(json.dumps(found["explain"], indent=2))
    return f"{checked['size']} bytes, {best['skill_path']} has {best['score']:.2f}"
