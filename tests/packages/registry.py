"""An npm registry on this machine that has the packages of one folder and nothing else."""

import base64
import hashlib
import json
import tarfile
import threading
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Registry:
    def __init__(self, folder):
        self.files = {file.name: file for file in folder.glob("*.tgz")}
        self.downloads = []
        registry = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                registry.reply(self)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_address[1]}/"
        self.manifests = [self.manifest(file) for file in self.files.values()]
        self.manifests += self.elsewhere()

    def manifest(self, file):
        with tarfile.open(file) as tar:
            manifest = json.load(tar.extractfile("package/package.json"))
        digest = base64.b64encode(hashlib.sha512(file.read_bytes()).digest()).decode()
        return manifest | {"dist": {"tarball": f"{self.address}-/{file.name}", "integrity": f"sha512-{digest}"}}

    def elsewhere(self):
        """The packages of other platforms, of which npm has to read only the manifest."""
        launcher = next(manifest for manifest in self.manifests if manifest["name"] == "skillcell")
        present = {manifest["name"] for manifest in self.manifests}
        for name, version in launcher["optionalDependencies"].items():
            if name not in present:
                system, cpu, *libc = name.removeprefix("@skillcell/").split("-")
                fields = {"os": [system], "cpu": [cpu]}
                if libc:
                    fields["libc"] = ["glibc" if libc == ["gnu"] else libc[0]]
                yield {"name": name, "version": version, **fields, "dist": {"tarball": f"{self.address}-/absent/{name}"}}

    def reply(self, request):
        path = urllib.parse.unquote(request.path.split("?")[0]).removeprefix("/")
        if path.startswith("-/"):
            self.downloads.append(path.removeprefix("-/"))
            file = self.files.get(path.removeprefix("-/"))
            return send(request, file.read_bytes() if file else None)
        manifest = next((manifest for manifest in self.manifests if manifest["name"] == path), None)
        if manifest is None:
            return send(request, None)
        version = manifest["version"]
        document = {"name": path, "dist-tags": {"latest": version}, "versions": {version: manifest}}
        return send(request, json.dumps(document).encode())

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


def send(request, body):
    request.send_response(200 if body is not None else 404)
    body = body or b"{}"
    request.send_header("Content-Length", str(len(body)))
    request.end_headers()
    request.wfile.write(body)
