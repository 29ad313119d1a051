"""Keeps the library in step with the life of the process: exit, fork and multiprocessing."""
from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Callable

from ._errors import check
from ._native import lib

_ends: list[Callable[[], None]] = []
_resets: list[Callable[[], None]] = []
_is_started = False


def at_end(function: Callable[[], None]) -> Callable[[], None]:
    """Has a function called before the library is shut down."""
    _ends.append(function)
    return function


def after_fork(function: Callable[[], None]) -> Callable[[], None]:
    """Has a function called in each forked child."""
    _resets.append(function)
    return function


def started() -> None:
    """Notes that this process uses the library."""
    if not _is_started:
        _start()


def _start() -> None:
    global _is_started
    _is_started = True
    # A child of multiprocessing ends by os._exit() after its finalizers, without atexit.
    process, util = (sys.modules.get(f"multiprocessing.{part}") for part in ("process", "util"))
    if process is not None and util is not None and process.parent_process() is not None:
        util.Finalize(None, _end, exitpriority=-100)


def flush(timeout: float = 1.0) -> None:
    """Waits until the bus has read all posts of this process.

    Programs need it only before os._exit(): every other end waits for a second by itself. Processes
    of the user that share memory have heard of a post when post() returns.

    Raises TimeoutError if posts still wait after `timeout` seconds, or OSError with ENOTCONN,
    ENOBUFS or ENOMEM if the bus did not get some of the earlier ones.
    """
    check(lib.dn_flush(max(0, int(timeout * 1_000_000))), "flush")


@atexit.register
def _end() -> None:
    if not _is_started:
        return
    for function in _ends:
        function()
    lib.dn_shutdown()


def _reset() -> None:
    global _is_started
    _is_started = False
    for function in _resets:
        function()


os.register_at_fork(after_in_child=_reset)
