"""Mocks are not available in the sandbox: each fails when it is used."""

__all__ = ["Mock", "MagicMock", "AsyncMock", "patch", "call", "ANY", "mock_open"]


def _unavailable(*arguments, **options):
    raise NotImplementedError("unittest.mock is not available in the sandbox; run tests that need it outside")


Mock = MagicMock = AsyncMock = mock_open = patch = call = ANY = _unavailable
