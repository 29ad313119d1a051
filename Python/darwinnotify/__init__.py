"""Darwin notifications for Linux.

A process posts a name; every process of the user that observes the name hears of it within
microseconds. docs/python.md has a guide.

Asynchronous code runs on asyncio. A function that fails raises OSError, or one of its subclasses
such as PermissionError and TimeoutError, with the error number in `errno`.
"""
from ._calls import Caller, Service, call
from ._center import Event, Observation, Subscription, distributed, observe, on, post
from ._errors import InvalidError, RemoteError
from ._group import Group, Message, Messages
from ._native import ffi as _ffi, lib as _lib
from ._process import flush
from ._state import State

__version__: str = _ffi.string(_lib.dn_version()).decode()

__all__ = [
    "Caller",
    "Event",
    "Group",
    "InvalidError",
    "Message",
    "Messages",
    "Observation",
    "RemoteError",
    "Service",
    "State",
    "Subscription",
    "call",
    "distributed",
    "flush",
    "observe",
    "on",
    "post",
]
