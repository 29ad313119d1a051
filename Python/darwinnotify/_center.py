"""Posts and observes, on the Darwin and on the distributed center."""
from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ._errors import check, encode, encode_optional
from ._mailbox import Mailbox, Reader, in_thread, text
from ._native import ffi, lib
from ._process import started
from ._thread import again, forget, watch
from ._values import pack, unpack

# The same pointers for the life of the process, also in a forked child.
_DARWIN = lib.dn_center_darwin()
_DISTRIBUTED = lib.dn_center_distributed()
_NULL = ffi.NULL


class Event(NamedTuple):
    """A notification."""

    name: str
    posts: int
    """How many posts it stands for: those that waited too long for the observer are merged."""
    dropped: int
    """Distributed center and prefixes: how many earlier posts are missing."""
    missed: bool
    """Distributed center: the bus was lost, so an unknown number of posts may be missing."""
    object: str | None
    """Distributed center: the object that was posted."""
    user_info: dict[str, Any]
    """Distributed center: the dictionary that was posted."""


def _event(letter) -> Event:
    return Event(text(letter.name) or "", letter.n_posts, letter.n_dropped, letter.may_have_missed,
                 text(letter.text), unpack(letter.values) if letter.values else {})


class _Selection:
    """Which posts of a center an observer gets."""

    def __init__(self, center: Any, name: str | None, prefix: str | None,
                 object: str | None) -> None:
        if name is not None and prefix is not None:
            raise TypeError("a name or a prefix, not both")
        self.about = name or prefix or "every name"
        self._center = center
        self._arguments = (encode_optional(name, "a name"), encode_optional(prefix, "a prefix"),
                           encode_optional(object, "an object"))

    def begin(self, mailbox: Mailbox) -> None:
        mailbox.begin(lib.mailbox_observe, self._center, *self._arguments, about=self.about)


class Observation:
    """The events of an observer, in asyncio: `async with` begins and ends it, `async for` reads.

    Posts that arrive between the two wait. One task reads at a time.
    """

    def __init__(self, selection: _Selection) -> None:
        self._selection = selection
        self._reader: Reader | None = None

    async def __aenter__(self) -> Observation:
        if self._reader is not None:
            raise RuntimeError("an observation is entered once")
        mailbox = Mailbox(_event)
        self._reader = Reader(mailbox)
        await in_thread(lambda: self._selection.begin(mailbox), mailbox.close)
        return self

    async def __aexit__(self, *error: object) -> None:
        if self._reader is not None:
            self._reader.close()

    def __aiter__(self) -> Observation:
        return self

    async def __anext__(self) -> Event:
        if self._reader is None:
            raise RuntimeError("enter it first: async with … as events")
        event = await self._reader.next()
        if event is None:
            raise StopAsyncIteration
        return event


class Subscription:
    """A callback of events, until cancel() or the end of a `with` block."""

    def __init__(self, selection: _Selection, callback: Callable[[Event], object]) -> None:
        self._callback = callback
        self._running = threading.RLock()
        self._is_active = True
        self._mailbox = Mailbox(_event)
        try:
            self._loop: asyncio.AbstractEventLoop | None = asyncio.get_running_loop()
        except RuntimeError:
            self._loop = None
        try:
            selection.begin(self._mailbox)
        except BaseException:
            self._mailbox.close()
            raise
        if self._loop is None:
            watch(self._mailbox.fd, self._deliver)
        else:
            self._loop.add_reader(self._mailbox.fd, self._deliver)

    def __enter__(self) -> Subscription:
        return self

    def __exit__(self, *error: object) -> None:
        self.cancel()

    def cancel(self) -> None:
        """Ends it. The callback is not running afterwards, unless it is the caller."""
        with self._running:
            if not self._is_active:
                return
            self._is_active = False
            if self._loop is None:
                forget(self._mailbox.fd)
            elif not self._loop.is_closed():
                self._loop.remove_reader(self._mailbox.fd)
            self._mailbox.close()

    def _deliver(self) -> None:
        for event in self._mailbox.receive():
            with self._running:
                if not self._is_active:
                    return
                try:
                    self._callback(event)
                except Exception as error:
                    self._report(error)
        if not self._mailbox.has_more:
            return
        if self._loop is None:
            again(self._deliver)
        else:
            self._loop.call_soon(self._deliver)

    def _report(self, error: Exception) -> None:
        if self._loop is None:
            threading.excepthook(threading.ExceptHookArgs(
                (type(error), error, error.__traceback__, threading.current_thread())))
        else:
            self._loop.call_exception_handler(
                {"message": "a callback of darwinnotify has failed", "exception": error})


def _observer(name: str | None, prefix: str | None) -> None:
    if name is None and prefix is None:
        raise TypeError("a name or a prefix is missing; prefix=\"\" stands for every name")


def post(name: str) -> None:
    """Posts a name: every process of the user that observes it hears of it.

    The first use in a process waits for the connection to the bus, for at most a second.
    """
    started()
    check(lib.dn_center_post(_DARWIN, encode(name, "a name"), _NULL, _NULL, 0), name)


def observe(name: str | None = None, *, prefix: str | None = None) -> Observation:
    """Observes a name, or all names that begin with a prefix.

        async with observe("com.example.changed") as events:
            async for event in events:
                print(event.name)
    """
    _observer(name, prefix)
    return Observation(_Selection(_DARWIN, name, prefix, None))


def on(name: str | None, callback: Callable[[Event], object], *,
       prefix: str | None = None) -> Subscription:
    """Calls back for each event of a name, or (name None) of a prefix, until it is cancelled.

    Called while an asyncio loop runs, the callback runs in that loop; otherwise on a thread for all
    such callbacks, which it should not block for long.
    """
    _observer(name, prefix)
    return Subscription(_Selection(_DARWIN, name, prefix, None), callback)


class Distributed:
    """The distributed center, whose notifications have an object and a user info.

    Values are str, bool, int, float, bytes, datetime with a time zone, and lists and dictionaries
    of these.
    """

    def post(self, name: str, object: str | None = None,
             user_info: Mapping[str, Any] | None = None) -> None:
        """Posts a name with an object and a user info."""
        started()
        check(lib.dn_center_post(
            _DISTRIBUTED, encode(name, "a name"), encode_optional(object, "an object"),
            pack(user_info), 0), name)

    def observe(self, name: str | None = None, *, prefix: str | None = None,
                object: str | None = None) -> Observation:
        """Observes a name, a prefix or every name; with an object, only posts of that object."""
        return Observation(_Selection(_DISTRIBUTED, name, prefix, object))

    def on(self, name: str | None, callback: Callable[[Event], object], *,
           prefix: str | None = None, object: str | None = None) -> Subscription:
        """As the function on() of the module, for the events of this center."""
        return Subscription(_Selection(_DISTRIBUTED, name, prefix, object), callback)


distributed = Distributed()
