"""A scorer in another language than Rust: built as its README says, checked, and used."""

import json

from place import REPOSITORY, Failed, step

SOURCE = REPOSITORY / "fixtures/scorers/javascript/scorer.js"


def scorers(place, failures):
    step(failures, "scorer javascript", lambda: javascript(place))


def javascript(place):
    """Builds, checks and uses the scorer."""
    place.run([place.binary, "plugin", "new", "words", "--into", place.temporary], "scorer-new.log")
    built = place.temporary / "scorer.wasm"
    options = ["--wit", place.temporary / "words/wit", "--world", "scorer", "--sync", "--stub-wasi", "--output", built]
    place.run(["componentize-qjs", "--js", SOURCE, *options], "scorer-build.log")
    checked = json.loads(place.run([place.binary, "plugin", "check", "--json", built], "scorer-check.log").out)
    if checked["world"] != "scorer" or checked["problems"]:
        raise Failed(json.dumps(checked, indent=2))
    options = ["--root", REPOSITORY / "fixtures/skills", "--scorer", built, "--json"]
    task = "the login form component of a react application"
    found = json.loads(place.run([place.binary, "match", task, *options], "scorer-match.log").out)
    best = found["explain"]["candidates"][0]
    if found["explain"]["scorer"] != built.name or best["skill_path"] != "ui/react/auth":
        raise Failed(json.dumps(found["explain"], indent=2))
    return f"{checked['size']} bytes, {best['skill_path']} has {best['score']:.2f}"
