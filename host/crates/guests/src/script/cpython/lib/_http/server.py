"""Scripts in the sandbox cannot listen on a port, so a server fails when it is created."""

import socketserver

__all__ = ["HTTPServer", "ThreadingHTTPServer", "BaseHTTPRequestHandler", "SimpleHTTPRequestHandler"]


class HTTPServer(socketserver.TCPServer):
    pass


class ThreadingHTTPServer(HTTPServer):
    daemon_threads = True


class BaseHTTPRequestHandler(socketserver.StreamRequestHandler):
    protocol_version = "HTTP/1.0"


class SimpleHTTPRequestHandler(BaseHTTPRequestHandler):
    extensions_map = {}
