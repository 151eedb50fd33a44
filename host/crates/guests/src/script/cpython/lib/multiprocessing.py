"""There are no processes in the sandbox that share memory: a pool does its work in turn, and a `Process` fails when it starts."""

import builtins
import os

__all__ = ["Pool", "Process", "cpu_count", "current_process", "freeze_support", "get_context", "set_start_method"]


class _Result:
    def __init__(self, function, arguments, options, callback, error_callback):
        self._error = None
        try:
            self._value = function(*arguments, **options)
        except Exception as error:
            self._error = error
            if error_callback:
                error_callback(error)
        else:
            if callback:
                callback(self._value)

    def get(self, timeout=None):
        if self._error is not None:
            raise self._error
        return self._value

    def wait(self, timeout=None):
        pass

    def ready(self):
        return True

    def successful(self):
        return self._error is None


class Pool:
    def __init__(self, processes=None, initializer=None, initargs=(), maxtasksperchild=None, context=None):
        if initializer is not None:
            initializer(*initargs)

    def apply(self, func, args=(), kwds={}):
        return func(*args, **kwds)

    def apply_async(self, func, args=(), kwds={}, callback=None, error_callback=None):
        return _Result(func, args, kwds, callback, error_callback)

    def map(self, func, iterable, chunksize=None):
        return [func(item) for item in iterable]

    def map_async(self, func, iterable, chunksize=None, callback=None, error_callback=None):
        return _Result(self.map, (func, iterable), {}, callback, error_callback)

    def starmap(self, func, iterable, chunksize=None):
        return [func(*item) for item in iterable]

    def imap(self, func, iterable, chunksize=1):
        return builtins.map(func, iterable)

    imap_unordered = imap

    def close(self):
        pass

    join = terminate = close

    def __enter__(self):
        return self

    def __exit__(self, kind, value, traceback):
        pass


class Process:
    name = "MainProcess"
    daemon = False
    exitcode = None

    def __init__(self, group=None, target=None, name=None, args=(), kwargs={}, *, daemon=None):
        self.name = name or "Process-1"
        self.pid = os.getpid()

    def start(self):
        raise OSError("scripts run in a sandbox that has no processes; use a Pool, or subprocess for another script")


def cpu_count():
    return 1


def current_process():
    return Process(name="MainProcess")


def freeze_support():
    pass


def set_start_method(method, force=False):
    pass


def get_context(method=None):
    import multiprocessing
    return multiprocessing
