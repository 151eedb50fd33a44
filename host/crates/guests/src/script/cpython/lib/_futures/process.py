"""There are no processes in the sandbox that share memory: work is done when it is submitted."""

from concurrent.futures import _base, thread


class BrokenProcessPool(_base.BrokenExecutor):
    pass


class ProcessPoolExecutor(thread.ThreadPoolExecutor):
    def __init__(self, max_workers=None, mp_context=None, initializer=None, initargs=(), *, max_tasks_per_child=None):
        super().__init__(max_workers, "", initializer, initargs)
