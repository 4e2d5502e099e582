"""What is closed while other threads use it."""
from __future__ import annotations

import os
import threading


class Gate:
    """Counts the calls that use a set or an index, so that closing it waits for those of other threads."""

    def __init__(self, what: str) -> None:
        self._what, self.closed = what, False
        self._begin()

    def _begin(self) -> None:
        """Of a forked process, the calls of other threads are not there."""
        self._process, self._changed = os.getpid(), threading.Condition(threading.Lock())
        self._calls: dict[int, int] = {}  # by thread

    def __enter__(self) -> None:
        thread = threading.get_ident()
        if self._process != os.getpid():
            self._begin()
        with self._changed:
            if self.closed:
                raise ValueError("the %s is closed" % self._what)
            self._calls[thread] = self._calls.get(thread, 0) + 1

    def __exit__(self, *unused: object) -> None:
        thread = threading.get_ident()
        with self._changed:
            self._calls[thread] -= 1
            if not self._calls[thread]:
                del self._calls[thread]
                self._changed.notify_all()

    def close(self) -> None:
        """When this has returned, there are no calls, nor will there be."""
        if self._process != os.getpid():
            self._begin()
        with self._changed:
            if threading.get_ident() in self._calls:
                raise ValueError("the %s is in use by this thread: what it reads from must not close it" % self._what)
            self.closed = True
            while self._calls:
                self._changed.wait()
