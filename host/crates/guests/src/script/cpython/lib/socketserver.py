"""Scripts in the sandbox cannot listen on a port, so a server fails when it is created."""

import errno

__all__ = ["BaseServer", "TCPServer", "UDPServer", "ThreadingMixIn", "ThreadingTCPServer", "BaseRequestHandler",
           "StreamRequestHandler"]


class BaseServer:
    def __init__(self, server_address, RequestHandlerClass, *arguments, **options):
        raise OSError(errno.EOPNOTSUPP, "scripts run in a sandbox that cannot listen on a port")


class TCPServer(BaseServer):
    allow_reuse_address = False


class UDPServer(TCPServer):
    pass


class ThreadingMixIn:
    daemon_threads = False


class ThreadingTCPServer(ThreadingMixIn, TCPServer):
    pass


class BaseRequestHandler:
    pass


class StreamRequestHandler(BaseRequestHandler):
    pass
