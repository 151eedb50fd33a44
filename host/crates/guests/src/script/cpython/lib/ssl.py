"""Encrypted connections are made and checked by the host, so settings can be made here but have no effect, and sockets cannot be wrapped."""

import enum as _enum

HAS_SNI = HAS_ALPN = HAS_TLSv1_2 = HAS_TLSv1_3 = True
OPENSSL_VERSION = "none"
CERT_NONE, CERT_OPTIONAL, CERT_REQUIRED = range(3)
PROTOCOL_TLS = PROTOCOL_SSLv23 = 2
PROTOCOL_TLS_CLIENT, PROTOCOL_TLS_SERVER = 16, 17
OP_ALL = OP_NO_SSLv2 = OP_NO_SSLv3 = OP_NO_TLSv1 = OP_NO_TLSv1_1 = OP_NO_COMPRESSION = 0
VERIFY_DEFAULT = VERIFY_X509_STRICT = VERIFY_X509_PARTIAL_CHAIN = 0


class TLSVersion(_enum.IntEnum):
    MINIMUM_SUPPORTED = -2
    MAXIMUM_SUPPORTED = -1
    TLSv1 = 769
    TLSv1_1 = 770
    TLSv1_2 = 771
    TLSv1_3 = 772


class Purpose(_enum.Enum):
    SERVER_AUTH = "serverAuth"
    CLIENT_AUTH = "clientAuth"


class SSLError(OSError):
    pass


class SSLZeroReturnError(SSLError):
    pass


class SSLWantReadError(SSLError):
    pass


class SSLWantWriteError(SSLError):
    pass


class SSLSyscallError(SSLError):
    pass


class SSLEOFError(SSLError):
    pass


class SSLCertVerificationError(SSLError, ValueError):
    pass


CertificateError = SSLCertVerificationError


def _refuse(*_, **__):
    raise SSLError("scripts in the sandbox have no sockets: use urllib, requests or httpx")


class SSLSocket:
    __init__ = _refuse


class SSLObject:
    __init__ = _refuse


class MemoryBIO:
    __init__ = _refuse


class SSLContext:
    def __init__(self, protocol=PROTOCOL_TLS_CLIENT):
        self.protocol = protocol
        self.check_hostname = True
        self.verify_mode = CERT_REQUIRED
        self.verify_flags = self.options = 0
        self.minimum_version, self.maximum_version = TLSVersion.TLSv1_2, TLSVersion.MAXIMUM_SUPPORTED

    def _ignore(self, *_, **__):
        pass

    load_verify_locations = load_default_certs = set_default_verify_paths = set_ciphers = set_alpn_protocols = _ignore
    load_cert_chain = wrap_socket = wrap_bio = _refuse


def create_default_context(purpose=Purpose.SERVER_AUTH, *, cafile=None, capath=None, cadata=None):
    return SSLContext()


def _create_unverified_context(*_, **__):
    return SSLContext()


_create_default_https_context = create_default_context
get_server_certificate = _refuse
