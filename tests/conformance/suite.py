"""The MCP conformance suite and one client, over HTTP."""

import http.client
import json
import re
import secrets
import subprocess
import threading
import urllib.parse

from workspace import HERE, Failed, step, tail

REVISIONS = ["2025-11-25", "2026-07-28"]
SKILLS_SCENARIOS = ["sep-2640-skills-enumeration", "sep-2640-skills-manifest", "sep-2640-skills-directory"]
# These two check fields that 2025-11-25 does not have.
SKIPPED_BEFORE_2026 = {"sep-2640-skills-list-cache-attributes", "sep-2640-skills-get-cache-attributes"}

START_SECONDS = 30


def suite(workspace, failures):
    server = Server(workspace)
    try:
        step(failures, "http start", server.start)
        if server.url:
            step(failures, "http without token", lambda: refused_without_token(server.server_url))
            for revision in REVISIONS:
                step(failures, f"suite {revision}", lambda: requirements(workspace, server.url, revision))
                for scenario in SKILLS_SCENARIOS:
                    name = f"suite {revision} {scenario}"
                    step(failures, name, lambda: without_warnings(workspace, server.url, revision, scenario))
            step(failures, "client typescript modern over http", lambda: client(workspace, server))
    finally:
        step(failures, "http end", server.end)


def client(workspace, server):
    """Tests notifications over HTTP and a token, which the suite cannot."""
    command = [*workspace.typescript(), "modern", server.server_url, server.library]
    return workspace.run(command, "client-typescript-http.log", TOKEN=server.token).out.strip().splitlines()[-1]


def requirements(workspace, url, revision):
    """Checks everything that a revision requires, except what the baseline excuses. Warnings count as failures."""
    baseline = HERE / f"baseline-{revision}.yml"
    excused = entries(baseline)
    out = workspace.temporary / f"suite-{revision}"
    log = workspace.temporary / f"suite-{revision}.log"
    command = ["conformance", "server", "--url", url, "--requirements", revision, "-o", out]
    try:
        workspace.run([*command, "--expected-failures", baseline], log)
    except Failed as failure:
        raise Failed(verdict(log, out) or str(failure))
    failed = {f"{scenario}:{check['id']}" for scenario, check in failed_checks(out)}
    if unneeded := excused - failed:
        raise Failed(f"excused, but passed: {', '.join(sorted(unneeded))}")
    return f"{len(results(out))} scenarios, {len(excused)} checks excused"


def without_warnings(workspace, url, revision, scenario):
    """Runs a scenario in which every check must succeed. Warnings and skipped checks are failures."""
    out = workspace.temporary / f"suite-{revision}-{scenario}"
    command = ["conformance", "server", "--url", url, "--scenario", scenario, "-o", out]
    if revision != REVISIONS[-1]:
        command += ["--spec-version", revision, "--force"]
    workspace.run(command, f"suite-{revision}-{scenario}.log")
    checks = [check for _, checks in results(out) for check in checks]
    succeeded = [check for check in checks if check["status"] == "SUCCESS"]
    others = [
        check for check in checks
        if check["status"] != "SUCCESS" and not (revision < REVISIONS[-1] and check["id"] in SKIPPED_BEFORE_2026)
    ]
    if others or not succeeded:
        raise Failed("\n".join(describe(scenario, check) for check in others) or "no check ran")
    return f"{len(succeeded)} checks"


def entries(baseline):
    """Returns the entries of a baseline, `scenario:check`, each of which must be followed by its reason."""
    found = set()
    for line in baseline.read_text().splitlines():
        if line.lstrip().startswith("- "):
            entry = re.fullmatch(r"  - (\S+:\S+) +# \S.*", line)
            if entry is None:
                raise Failed(f"{baseline.name}: not `  - scenario:check # reason`: {line.strip()}")
            found.add(entry[1])
    return found


def verdict(log, out):
    """Returns the suite's comparison with the baseline and the failed checks, or None if the suite did not finish."""
    output = re.sub(r"\x1b\[\d+m", "", log.read_text())
    comparison = re.search(r"^(Stale baseline|Unexpected failures).*", output, re.MULTILINE | re.DOTALL)
    if comparison is None:
        return None
    named = set(re.findall(r"^  ✗ (\S+)", comparison[0], re.MULTILINE))
    failed = [
        describe(scenario, check) for scenario, check in failed_checks(out)
        if {scenario, f"{scenario}:{check['id']}"} & named
    ]
    return "\n".join([comparison[0], *failed])


def failed_checks(out):
    return [
        (scenario, check) for scenario, checks in results(out) for check in checks
        if check["status"] in ("FAILURE", "WARNING")
    ]


def results(out):
    """Returns the scenarios that ran, with their checks."""
    found = []
    for folder in sorted(out.iterdir()):
        scenario = re.fullmatch(r"server-(.+?)-\d{4}-\d\d-\d\dT.*", folder.name)
        if scenario is None:
            raise Failed(f"the suite wrote a folder with an unknown name: {folder.name}")
        found.append((scenario[1], json.loads((folder / "checks.json").read_text())))
    return found


def describe(scenario, check):
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
    """The server on a free port, behind a forwarder that adds the token, since the suite cannot send one."""

    def __init__(self, workspace):
        self.workspace = workspace
        self.token = secrets.token_urlsafe(32)
        self.library = workspace.library("http")
        self.log = []
        self.server_url = self.url = self.process = self.forwarder = None

    def start(self):
        self.process = subprocess.Popen(
            [self.workspace.binary, "serve", "--http", "127.0.0.1:0", self.library],
            env={**self.workspace.environment, "SKILLCELL_HTTP_TOKEN": self.token}, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace",
        )
        is_ready = threading.Event()
        threading.Thread(target=self.listen, args=[is_ready], daemon=True).start()
        is_ready.wait(START_SECONDS)
        if self.server_url is None:
            raise Failed("the server did not log its address")
        self.forwarder = subprocess.Popen(
            [self.workspace.commands / "node", HERE / "with_token.mjs", self.server_url],
            env={**self.workspace.environment, "TOKEN": self.token}, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True,
        )
        self.url = self.forwarder.stdout.readline().strip()
        if not self.url:
            raise Failed("with_token.mjs did not start")
        return self.server_url

    def listen(self, is_ready):
        for line in self.process.stderr:
            self.log.append(line)
            if address := re.search(r"listening on (http://127\.0\.0\.1:\d+/mcp)", line):
                self.server_url = address[1]
                is_ready.set()
        is_ready.set()

    def end(self):
        if self.forwarder:
            self.forwarder.stdin.close()
            self.forwarder.wait(5)
        if self.process is None:
            return
        exited_early = self.process.poll() is not None
        self.process.terminate()
        try:
            code = self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise Failed("the server did not exit within 5 s of SIGTERM")
        if exited_early or code != 0:
            when = "early" if exited_early else "after SIGTERM"
            raise Failed(f"the server exited {when} with {code}\n{tail(''.join(self.log))}")
