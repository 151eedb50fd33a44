"""There is no browser in the sandbox, so nothing is opened, as on a machine without one."""

__all__ = ["Error", "open", "open_new", "open_new_tab", "get", "register"]


class Error(Exception):
    pass


def register(name, klass, instance=None, *, preferred=False):
    pass


def get(using=None):
    raise Error("could not locate runnable browser")


def open(url, new=0, autoraise=True):
    return False


def open_new(url):
    return False


def open_new_tab(url):
    return False
