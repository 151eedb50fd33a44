"""The one kind of failure that is reported without a traceback."""


class Failed(Exception):
    """Why there are no packages, and what to do."""
