"""The setup of the server in real clients, and the manifest of its bundle."""

import json

from workspace import REPOSITORY, STEP_SECONDS, Failed, run, step

# A client that is configured on this machine must be neither read nor changed.
OTHERS = ("ANTHROPIC_", "CLAUDE", "CODEX_", "GEMINI_", "GOOGLE_")


def setup(workspace, failures):
    step(failures, "set-up claude", lambda: claude(workspace))
    step(failures, "set-up gemini", lambda: gemini(workspace))
    step(failures, "bundle manifest", lambda: manifest(workspace))


def claude(workspace):
    """Claude Code starts the server from the entry, next to its own settings."""
    home = ClientHome(workspace, "claude")
    home.run(["claude", "mcp", "list"])
    before = json.loads(home.read(".claude.json"))
    home.write("claude")
    after = json.loads(home.read(".claude.json"))
    del after["mcpServers"]["skillcell"]
    if {**before, "mcpServers": before.get("mcpServers", {})} != after:
        raise Failed("something else changed in .claude.json")
    return home.connected(["claude", "mcp", "list"])


def gemini(workspace):
    """Gemini starts the server in trusted folders."""
    home = ClientHome(workspace, "gemini")
    (home.folder / ".gemini").mkdir()
    (home.folder / ".gemini/trustedFolders.json").write_text(json.dumps({str(home.folder): "TRUST_FOLDER"}))
    (home.folder / ".gemini/settings.json").write_text('// mine\n{\n  "ui": {"theme": "Dracula"} // dark\n}\n')
    home.write("gemini")
    if not home.read(".gemini/settings.json").startswith('// mine\n{\n  "ui": {"theme": "Dracula"}, // dark\n'):
        raise Failed(home.read(".gemini/settings.json"))
    return home.connected(["gemini", "mcp", "list"])


def manifest(workspace):
    file = REPOSITORY / "packaging/mcpb/manifest.json"
    return workspace.run(["mcpb", "validate", file], "bundle-manifest.log").out.strip().splitlines()[-1]


class ClientHome:
    """An empty home for a client."""

    def __init__(self, workspace, client):
        self.workspace = workspace
        self.client = client
        self.folder = workspace.temporary / f"home-{client}"
        self.folder.mkdir()
        self.library = workspace.library(f"set-up-{client}")
        kept = {name: value for name, value in workspace.environment.items() if not name.startswith(OTHERS)}
        self.environment = {**kept, "HOME": str(self.folder)}

    def run(self, command):
        log = self.workspace.temporary / f"set-up-{self.client}.log"
        done = run(command, self.environment, self.folder, STEP_SECONDS, log)
        # Some clients print their list to stderr.
        return done.out + done.err

    def write(self, client):
        command = [self.workspace.binary, "client", client, self.library, "--write"]
        for expected in ["added `skillcell`", "is already in"]:
            out = self.run(command)
            if expected not in out:
                raise Failed(out)

    def read(self, path):
        return (self.folder / path).read_text()

    def connected(self, command):
        lines = [line for line in self.run(command).splitlines() if "skillcell" in line]
        if len(lines) != 1 or "Connected" not in lines[0]:
            raise Failed("\n".join(lines) or "the server is not listed")
        return lines[0].replace(f"{self.workspace.temporary}/", "").strip()
