"""Reads what the library reports, on threads of Python only."""
from __future__ import annotations

import asyncio
import collections
import threading
import weakref
from collections.abc import Callable
from typing import Any

from ._errors import check
from ._native import ffi, lib
from ._process import after_fork, at_end, started

_generation = 0  # of the process: how often it was forked


@after_fork
def _forked() -> None:
    global _generation
    _generation += 1
    _open.clear()


class Mailbox:
    """What one observer, call or service reports. In a forked child it is closed and empty."""

    def __init__(self, convert: Callable[[Any], Any]) -> None:
        """`convert` makes something of Python of a letter, which is freed when it returns."""
        started()
        made = ffi.new("mailbox **")
        check(lib.mailbox_new(made), "mailbox")
        self._handle = ffi.gc(made[0], lib.mailbox_close)
        self._convert = convert
        self._generation = _generation
        self._lock = threading.Lock()
        self.has_more = False
        """Whether receive() would return something though the descriptor is not readable."""
        self.fd: int = lib.mailbox_get_fd(self._handle)
        _open.add(self)

    def begin(self, function: Callable[..., int], *arguments: Any, about: str) -> int:
        """Calls a function of native/mailbox.h that begins what the mailbox is for."""
        with self._lock:
            if self._handle is None:
                raise RuntimeError("it is closed")
            return check(function(self._handle, *arguments), about)

    def receive(self) -> list[Any]:
        """Returns what has arrived, up to a limit."""
        results: list[Any] = []
        if self._generation != _generation:
            return results
        with self._lock:
            letter = ffi.NULL if self._handle is None else lib.mailbox_receive(self._handle)
        while letter:
            this, letter = letter, letter.next
            try:
                results.append(self._convert(this))
            finally:
                lib.letter_free(this)
        self.has_more = len(results) == lib.MAILBOX_BATCH
        return results

    def close(self) -> None:
        """Ends the observer, call or service."""
        if self._generation != _generation:
            return  # the lock may be that of a thread that does not exist here
        with self._lock:
            handle, self._handle = self._handle, None
            if handle is not None:
                ffi.release(handle)


_open: weakref.WeakSet[Mailbox] = weakref.WeakSet()


@at_end
def _close_all() -> None:
    for mailbox in list(_open):
        mailbox.close()


class Reader:
    """Waits for what a mailbox receives, in asyncio.

    While nobody waits nothing is received: posts then stay in the library, which merges or counts
    what becomes too many.
    """

    def __init__(self, mailbox: Mailbox) -> None:
        self._mailbox = mailbox
        self._loop = asyncio.get_running_loop()
        self._received: collections.deque[Any] = collections.deque()
        self._waiter: asyncio.Future[None] | None = None
        self._is_watched = False
        self._is_closed = False

    async def next(self) -> Any:
        """Returns the next result; None once the reader is closed."""
        while not self._received and not self._is_closed:
            if self._mailbox.has_more:
                self._received.extend(self._mailbox.receive())
            else:
                await self._arrival()
        return None if self._is_closed else self._received.popleft()

    async def _arrival(self) -> None:
        if self._waiter is not None:
            raise RuntimeError("another task is waiting here")
        if not self._is_watched:
            self._loop.add_reader(self._mailbox.fd, self._arrived)
            self._is_watched = True
        self._waiter = self._loop.create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    def _arrived(self) -> None:
        if self._waiter is None:
            self._ignore()
            return
        self._received.extend(self._mailbox.receive())
        if self._received and not self._waiter.done():
            self._waiter.set_result(None)

    def _ignore(self) -> None:
        if self._is_watched:
            self._loop.remove_reader(self._mailbox.fd)
            self._is_watched = False

    def close(self) -> None:
        """Ends the mailbox; who waits gets None."""
        self._is_closed = True
        if not self._loop.is_closed():
            self._ignore()
        self._mailbox.close()
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)


async def in_thread(work: Callable[[], Any], undo: Callable[[], None]) -> None:
    """Runs what may wait a second for the bus without stopping the loop.

    If it fails, or its task is cancelled, it is undone.
    """
    try:
        try:
            future = asyncio.get_running_loop().run_in_executor(None, work)
        except RuntimeError:  # once the main thread has ended there are no more threads
            work()
        else:
            await asyncio.shield(future)
    except asyncio.CancelledError:
        future.add_done_callback(lambda done: (done.cancelled() or done.exception(), undo()))
        raise
    except BaseException:
        undo()
        raise


def text(pointer) -> str | None:
    """Returns a text of a letter; None for a null pointer."""
    return ffi.string(pointer).decode() if pointer else None
