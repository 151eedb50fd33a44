"""The MCP conformance suite and one client, over HTTP."""

import http.client
import json
import re
import secrets
import subprocess
import threading
import urllib.parse

from place import HERE, Failed, step, tail

REVISIONS = ["2025-11-25", "2026-07-28"]
SKILLS_SCENARIOS = ["sep-2640-skills-enumeration", "sep-2640-skills-manifest", "sep-2640-skills-directory"]
# These two look at fields that 2025-11-25 does not have, and say so.
SKIPPED_BEFORE_2026 = {"sep-2640-skills-list-cache-attributes", "sep-2640-skills-get-cache-attributes"}

START_SECONDS = 30


def suite(place, failures):
    server = Server(place)
    try:
        step(failures, "http start", server.start)
        if server.url:
            step(failures, "http without token", lambda: refused_without_token(server.own_url))
            for revision in REVISIONS:
                step(failures, f"suite {revision}", lambda: requirements(place, server.url, revision))
                for scenario in SKILLS_SCENARIOS:
                    name = f"suite {revision} {scenario}"
                    step(failures, name, lambda: in_full(place, server.url, revision, scenario))
            step(failures, "client typescript modern over http", lambda: client(place, server))
    finally:
        step(failures, "http end", server.end)


def client(place, server):
    """What the suite cannot try, since it cannot change the library: being told over HTTP. And a token of its own."""
    command = [*place.typescript(), "modern", server.own_url, server.library]
    return place.run(command, "client-typescript-http.log", TOKEN=server.token).out.strip().splitlines()[-1]


def requirements(place, url, revision):
    """All that a revision requires, except what the baseline excuses. Warnings count as failures."""
    baseline = HERE / f"baseline-{revision}.yml"
    excused = entries(baseline)
    out = place.temporary / f"suite-{revision}"
    log = place.temporary / f"suite-{revision}.log"
    command = ["conformance", "server", "--url", url, "--requirements", revision, "-o", out]
    try:
        place.run([*command, "--expected-failures", baseline], log)
    except Failed as failure:
        raise Failed(verdict(log, out) or str(failure))
    wrong = {f"{scenario}:{check['id']}" for scenario, check in wrong_checks(out)}
    if unneeded := excused - wrong:
        raise Failed(f"excused, and did not go wrong: {', '.join(sorted(unneeded))}")
    return f"{len(results(out))} scenarios, {len(excused)} checks excused"


def in_full(place, url, revision, scenario):
    """One scenario in which every check must succeed: a warning is a failure, and so is a check that was left out."""
    out = place.temporary / f"suite-{revision}-{scenario}"
    command = ["conformance", "server", "--url", url, "--scenario", scenario, "-o", out]
    if revision != REVISIONS[-1]:
        command += ["--spec-version", revision, "--force"]
    place.run(command, f"suite-{revision}-{scenario}.log")
    checks = [check for _, checks in results(out) for check in checks]
    succeeded = [check for check in checks if check["status"] == "SUCCESS"]
    others = [
        check for check in checks
        if check["status"] != "SUCCESS" and not (revision < REVISIONS[-1] and check["id"] in SKIPPED_BEFORE_2026)
    ]
    if others or not succeeded:
        raise Failed("\n".join(described(scenario, check) for check in others) or "no check ran")
    return f"{len(succeeded)} checks"


def entries(baseline):
    """The entries of a baseline, `scenario:check`, each of which must have its reason behind it."""
    found = set()
    for line in baseline.read_text().splitlines():
        if line.lstrip().startswith("- "):
            entry = re.fullmatch(r"  - (\S+:\S+) +# \S.*", line)
            if entry is None:
                raise Failed(f"{baseline.name}: not `  - scenario:check # reason`: {line.strip()}")
            found.add(entry[1])
    return found


def verdict(log, out):
    """What the suite held against the baseline, with the checks behind it; nothing if it did not come so far."""
    said = re.sub(r"\x1b\[\d+m", "", log.read_text())
    judged = re.search(r"^(Stale baseline|Unexpected failures).*", said, re.MULTILINE | re.DOTALL)
    if judged is None:
        return None
    named = set(re.findall(r"^  ✗ (\S+)", judged[0], re.MULTILINE))
    wrong = [
        described(scenario, check) for scenario, check in wrong_checks(out)
        if {scenario, f"{scenario}:{check['id']}"} & named
    ]
    return "\n".join([judged[0], *wrong])


def wrong_checks(out):
    return [
        (scenario, check) for scenario, checks in results(out) for check in checks
        if check["status"] in ("FAILURE", "WARNING")
    ]


def results(out):
    """The scenarios that ran, with their checks."""
    found = []
    for folder in sorted(out.iterdir()):
        scenario = re.fullmatch(r"server-(.+?)-\d{4}-\d\d-\d\dT.*", folder.name)
        if scenario is None:
            raise Failed(f"the suite wrote a folder of an unknown name: {folder.name}")
        found.append((scenario[1], json.loads((folder / "checks.json").read_text())))
    return found


def described(scenario, check):
    details = json.dumps(check.get("details"))[:600] if check["id"].startswith("wire-schema") else ""
    return f"{check['status']} {scenario}:{check['id']}: {check.get('errorMessage') or check['description']} {details}"


def refused_without_token(url):
    address = urllib.parse.urlsplit(url)
    connection = http.client.HTTPConnection(address.hostname, address.port, timeout=10)
    connection.request("POST", address.path, body="{}", headers={"Content-Type": "application/json"})
    status = connection.getresponse().status
    connection.close()
    if status != 401:
        raise Failed(f"expected 401, got {status}")


class Server:
    """The server on a free port, and before it an address that adds the token, since the suite cannot send one."""

    def __init__(self, place):
        self.place = place
        self.token = secrets.token_urlsafe(32)
        self.library = place.library("http")
        self.said = []
        self.own_url = self.url = self.process = self.forwarder = None

    def start(self):
        self.process = subprocess.Popen(
            [self.place.binary, "serve", "--http", "127.0.0.1:0", self.library],
            env={**self.place.environment, "SKILLCELL_HTTP_TOKEN": self.token}, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace",
        )
        known = threading.Event()
        threading.Thread(target=self.listen, args=[known], daemon=True).start()
        known.wait(START_SECONDS)
        if self.own_url is None:
            raise Failed("the server did not say where it listens")
        self.forwarder = subprocess.Popen(
            [self.place.commands / "node", HERE / "with_token.mjs", self.own_url],
            env={**self.place.environment, "TOKEN": self.token}, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True,
        )
        self.url = self.forwarder.stdout.readline().strip()
        if not self.url:
            raise Failed("with_token.mjs did not start")
        return self.own_url

    def listen(self, known):
        for line in self.process.stderr:
            self.said.append(line)
            if address := re.search(r"listening on (http://127\.0\.0\.1:\d+/mcp)", line):
                self.own_url = address[1]
                known.set()
        known.set()

    def end(self):
        if self.forwarder:
            self.forwarder.stdin.close()
            self.forwarder.wait(5)
        if self.process is None:
            return
        ended_by_itself = self.process.poll() is not None
        self.process.terminate()
        try:
            code = self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise Failed("the server did not end within 5 s of being asked to")
        if ended_by_itself or code != 0:
            when = "by itself" if ended_by_itself else "asked to"
            raise Failed(f"the server ended {when}, with {code}\n{tail(''.join(self.said))}")
