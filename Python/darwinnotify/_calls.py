"""Requests to other processes, and services that answer them."""
from __future__ import annotations

import asyncio
import errno
import functools
import inspect
import os
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ._errors import InvalidError, RemoteError, encode, failure
from ._mailbox import Mailbox, Reader, in_thread, text
from ._native import ffi, lib
from ._values import pack, unpack

_INVALID_ARGUMENTS = "org.freedesktop.DBus.Error.InvalidArgs"
_ACCESS_DENIED = "org.freedesktop.DBus.Error.AccessDenied"
_CANCELLED = "org.darwinnotify.Error.Cancelled"
_UNANSWERED = "org.darwinnotify.Error.Unanswered"
_FAILED = "org.darwinnotify.Error.Failed"
_FOREVER = 2**64 - 1

_connected_in = 0


async def _connect() -> None:
    """Waits for the first connection of the process on another thread."""
    global _connected_in
    if _connected_in != os.getpid():
        await in_thread(lambda: lib.dn_center_is_on_bus(lib.dn_center_darwin()), lambda: None)
        _connected_in = os.getpid()


def _kind(service: str, method: str) -> str:
    return method if "." in method else f"{service}.{method}"


async def call(service: str, method: str, arguments: Mapping[str, Any] | None = None, /, *,
               timeout: float | None = 10.0, **more: Any) -> Any:
    """Asks another process, and returns its answer; {} or None if it answered with nothing.

    `method` is a member, of the interface with the name of the service, or interface and member.
    The arguments are keywords, or a mapping where a name is not one. They and the answer are values
    as in a user info. Cancelling the task cancels the call at the service, too.

    Raises TimeoutError after `timeout` seconds; RemoteError if the service answers with an error;
    otherwise OSError: ENXIO if there is no such service, ECONNRESET if it left before it answered,
    PermissionError if this process may not ask, ENOTCONN if there is no bus.
    """
    limit = _FOREVER if timeout is None else max(0, int(timeout * 1_000_000))
    packed = pack({**(arguments or {}), **more})
    names = encode(service, "a service"), encode(_kind(service, method), "a method")
    await _connect()
    about = f"{service} {method}"
    mailbox = Mailbox(_outcome)
    reader = Reader(mailbox)
    try:
        mailbox.begin(lib.mailbox_call, *names, packed, limit, about=about)
        outcome = await reader.next() or _Outcome(-errno.ECANCELED, None, None, {})
    finally:
        reader.close()
    if outcome.error == 0:
        return outcome.reply.get("value")
    if outcome.name is not None and outcome.error == -errno.EREMOTEIO:
        raise RemoteError(outcome.name, outcome.message or "", outcome.reply.get("value"))
    raise failure(-outcome.error, about)


class _Outcome(NamedTuple):
    error: int
    name: str | None
    message: str | None
    reply: dict[str, Any]


def _outcome(letter) -> _Outcome:
    return _Outcome(letter.error, text(letter.name), text(letter.text), unpack(letter.values))


class Caller(NamedTuple):
    """The process that asks, as the bus reports it."""

    name: str
    """The name of its connection, such as ":1.42"."""
    user: int | None
    """Its effective user ID; None if the bus does not know."""
    process: int | None
    """Its process ID; None if the bus does not know."""


class _Request:
    """A request, refused when it is dropped, unless it was answered."""

    def __init__(self, letter) -> None:
        self.is_cancelled = letter.type == lib.LETTER_CANCEL
        self.id: int = letter.id
        self.kind = text(letter.name) or ""
        self.arguments = unpack(letter.values)
        self.caller = Caller(
            text(letter.text) or "", None if letter.user == 2**32 - 1 else letter.user,
            letter.process or None)
        self._handle, letter.request = letter.request, ffi.NULL

    def __del__(self) -> None:
        self.refuse(_UNANSWERED, "")

    def answer(self, value: Any) -> None:
        reply = pack(None if value is None else {"value": value})
        handle, self._handle = self._handle, ffi.NULL
        lib.dn_request_answer(handle, reply)

    def refuse(self, name: str, message: str, details: Any = None) -> None:
        if not self._handle:
            return
        try:
            words = (encode(name, "a name"), encode(message, "a message"),
                     pack(None if details is None else {"value": details}))
        except (InvalidError, TypeError):
            words = _FAILED.encode(), ffi.NULL, ffi.NULL
        handle, self._handle = self._handle, ffi.NULL
        lib.dn_request_refuse(handle, *words)


class Service:
    """A name on the bus under which this process answers requests, in asyncio.

        async def search(text):
            return [track for track in tracks if text in track["title"]]

        async with Service("org.example.Player", {"Search": search}) as service:
            await service.serve_forever()

    A handler is a function or a coroutine function that takes the arguments as keywords and returns
    a value as in a user info, or None. The caller gets a RemoteError that it raises as it is, and
    for any other exception its text; the loop's exception handler gets that exception, too. A
    handler whose caller gives up is cancelled.
    """

    def __init__(self, name: str, handlers: Mapping[str, Callable[..., Any]], *,
                 allow: Callable[[Caller, str], bool] | None = None, queue: bool = False) -> None:
        """Describes a service.

        `handlers` has a function for each method, named as in call(). `allow(caller, method)`
        decides who may ask, by default every process of the same user. With `queue`, a name that
        another process has is waited for; otherwise that is FileExistsError.
        """
        self.name = name
        self._handlers = {_kind(name, method): handler for method, handler in handlers.items()}
        self._methods = {_kind(name, method): method for method in handlers}
        self._allow = allow
        self._queue = queue
        self._reader: Reader | None = None
        self._server: asyncio.Task[None] | None = None
        self._tasks: dict[int, asyncio.Task[None]] = {}

    async def __aenter__(self) -> Service:
        if self._reader is not None:
            raise RuntimeError("a service is entered once")
        name = encode(self.name, "a service")
        texts = [ffi.new("char[]", encode(kind, "a method")) for kind in self._handlers]
        kinds = ffi.new("char *[]", [*texts, ffi.NULL])
        mailbox = Mailbox(_Request)
        self._reader = Reader(mailbox)
        await in_thread(
            lambda: mailbox.begin(lib.mailbox_serve, name, kinds, self._allow is not None,
                                  self._queue, about=self.name), mailbox.close)
        self._server = asyncio.create_task(self._serve(self._reader))
        return self

    async def __aexit__(self, *error: object) -> None:
        """Gives up the name, and cancels the handlers that still run."""
        assert self._reader is not None and self._server is not None
        self._reader.close()
        tasks = [self._server, *self._tasks.values()]
        for task in tasks[1:]:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def serve_forever(self) -> None:
        """Waits until its task is cancelled."""
        await asyncio.get_running_loop().create_future()

    async def _serve(self, reader: Reader) -> None:
        while (request := await reader.next()) is not None:
            if not request.is_cancelled:
                task = asyncio.create_task(self._handle(request))
                self._tasks[request.id] = task
                task.add_done_callback(functools.partial(self._forget, request.id))
            elif request.id in self._tasks:
                self._tasks[request.id].cancel()

    def _forget(self, id: int, task: asyncio.Task[None]) -> None:
        del self._tasks[id]

    async def _handle(self, request: _Request) -> None:
        try:
            request.answer(await self._value(request))
        except RemoteError as error:
            request.refuse(error.name, error.message, error.details)
        except asyncio.CancelledError:
            request.refuse(_CANCELLED, "")
            raise
        except Exception as error:
            request.refuse(_FAILED, str(error))
            asyncio.get_running_loop().call_exception_handler(
                {"message": f"a handler of {self.name} has failed", "exception": error})

    async def _value(self, request: _Request) -> Any:
        method, handler = self._methods[request.kind], self._handlers[request.kind]
        if self._allow is not None and not self._allow(request.caller, method):
            raise RemoteError(_ACCESS_DENIED, f"{method} is not for this caller")
        try:
            inspect.signature(handler).bind(**request.arguments)
        except TypeError as error:
            raise RemoteError(_INVALID_ARGUMENTS, str(error)) from None
        value = handler(**request.arguments)
        return await value if inspect.isawaitable(value) else value
