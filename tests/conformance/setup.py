"""Setting the server up in real clients, as people do, and what its packages say about it."""

import json

from place import REPOSITORY, STEP_SECONDS, Failed, run, step

# A client that is configured on this machine must be neither read nor changed.
OTHERS = ("ANTHROPIC_", "CLAUDE", "CODEX_", "GEMINI_", "GOOGLE_")


def setup(place, failures):
    step(failures, "set-up claude", lambda: claude(place))
    step(failures, "set-up gemini", lambda: gemini(place))
    step(failures, "bundle manifest", lambda: manifest(place))


def claude(place):
    """Claude Code starts the server from the entry, beside settings of its own."""
    desk = Desk(place, "claude")
    desk.run(["claude", "mcp", "list"])
    before = json.loads(desk.read(".claude.json"))
    desk.write("claude")
    after = json.loads(desk.read(".claude.json"))
    del after["mcpServers"]["skillcell"]
    if {**before, "mcpServers": before.get("mcpServers", {})} != after:
        raise Failed("something else changed in .claude.json")
    return desk.connected(["claude", "mcp", "list"])


def gemini(place):
    """Gemini does so in folders that it is told to trust."""
    desk = Desk(place, "gemini")
    (desk.home / ".gemini").mkdir()
    (desk.home / ".gemini/trustedFolders.json").write_text(json.dumps({str(desk.home): "TRUST_FOLDER"}))
    (desk.home / ".gemini/settings.json").write_text('// mine\n{\n  "ui": {"theme": "Dracula"} // dark\n}\n')
    desk.write("gemini")
    if not desk.read(".gemini/settings.json").startswith('// mine\n{\n  "ui": {"theme": "Dracula"}, // dark\n'):
        raise Failed(desk.read(".gemini/settings.json"))
    return desk.connected(["gemini", "mcp", "list"])


def manifest(place):
    file = REPOSITORY / "packaging/mcpb/manifest.json"
    return place.run(["mcpb", "validate", file], "bundle-manifest.log").out.strip().splitlines()[-1]


class Desk:
    """A home in which nothing is set up yet."""

    def __init__(self, place, client):
        self.place = place
        self.client = client
        self.home = place.temporary / f"home-{client}"
        self.home.mkdir()
        self.library = place.library(f"set-up-{client}")
        kept = {name: value for name, value in place.environment.items() if not name.startswith(OTHERS)}
        self.environment = {**kept, "HOME": str(self.home)}

    def run(self, command):
        log = self.place.temporary / f"set-up-{self.client}.log"
        done = run(command, self.environment, self.home, STEP_SECONDS, log)
        # Not every client prints its list where lists are printed.
        return done.out + done.err

    def write(self, client):
        command = [self.place.binary, "client", client, self.library, "--write"]
        for said in ["added `skillcell`", "already there"]:
            out = self.run(command)
            if said not in out:
                raise Failed(out)

    def read(self, path):
        return (self.home / path).read_text()

    def connected(self, command):
        lines = [line for line in self.run(command).splitlines() if "skillcell" in line]
        if len(lines) != 1 or "Connected" not in lines[0]:
            raise Failed("\n".join(lines) or "the server is not listed")
        return lines[0].replace(f"{self.place.temporary}/", "").strip()
