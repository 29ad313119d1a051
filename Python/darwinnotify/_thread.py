"""One thread for the callbacks of programs without asyncio. It sleeps until there is something."""
from __future__ import annotations

import os
import select
import threading
from collections.abc import Callable

from ._process import after_fork, at_end


class _Thread:
    """Waits for descriptors, and calls what belongs to them."""

    def __init__(self) -> None:
        self._callbacks: dict[int, Callable[[], None]] = {}
        self._next: list[Callable[[], None]] = []
        self._epoll = select.epoll()
        self._stop_reader, self._stop_writer = os.pipe2(os.O_CLOEXEC)
        self._epoll.register(self._stop_reader, select.EPOLLIN)
        self._thread = threading.Thread(target=self._run, name="darwinnotify", daemon=True)
        self._thread.start()

    def add(self, fd: int, callback: Callable[[], None]) -> None:
        self._callbacks[fd] = callback
        self._epoll.register(fd, select.EPOLLIN)

    def remove(self, fd: int) -> None:
        if self._callbacks.pop(fd, None) is not None:
            self._epoll.unregister(fd)

    def call(self, callback: Callable[[], None]) -> None:
        self._next.append(callback)

    def stop(self) -> None:
        os.close(self._stop_writer)
        if threading.current_thread() is not self._thread:
            self._thread.join(1.0)

    def _run(self) -> None:
        while True:
            begun, self._next = self._next, []
            for callback in begun:
                callback()
            for fd, _ in self._epoll.poll(0 if self._next else -1):
                if fd == self._stop_reader:
                    return
                if (ready := self._callbacks.get(fd)) is not None:
                    ready()


_lock = threading.Lock()
_thread: _Thread | None = None


def watch(fd: int, callback: Callable[[], None]) -> None:
    """Calls back on the thread while a descriptor is readable."""
    global _thread
    with _lock:
        if _thread is None:
            _thread = _Thread()
        _thread.add(fd, callback)


def again(callback: Callable[[], None]) -> None:
    """Called on the thread, calls back there after the others have had their turn."""
    if _thread is not None:
        _thread.call(callback)


def forget(fd: int) -> None:
    """Ends what watch() has begun."""
    with _lock:
        if _thread is not None:
            _thread.remove(fd)


@at_end
def _stop() -> None:
    global _thread
    with _lock:
        thread, _thread = _thread, None
    if thread is not None:
        thread.stop()


@after_fork
def _reset() -> None:
    # The thread is not here. Its descriptors are left alone: they are those of the parent.
    global _lock, _thread
    _lock = threading.Lock()
    _thread = None
