"""Turns the negative error numbers of the library into exceptions."""
from __future__ import annotations

import errno
import os
from typing import Any

from ._native import ffi

_INVALID = (errno.EINVAL, errno.ENAMETOOLONG, errno.E2BIG)


class InvalidError(OSError, ValueError):
    """A name, an object or a value is malformed or too large: nothing was done."""


class RemoteError(OSError):
    """The other process answered a call with an error, or a handler of ours wants to.

    `name` is a D-Bus error name, `message` a sentence, perhaps empty, and `details` a value as in a
    user info, or None.
    """

    def __init__(self, name: str, message: str = "", details: Any = None) -> None:
        super().__init__(errno.EREMOTEIO, f"{name}: {message}" if message else name)
        self.name = name
        self.message = message
        self.details = details

    def __reduce__(self):  # OSError would make it anew from its error number
        return type(self), (self.name, self.message, self.details)


def failure(number: int, about: str) -> OSError:
    """Returns the exception for a positive error number."""
    kind = InvalidError if number in _INVALID else OSError
    return kind(number, os.strerror(number), about)


def check(result: int, about: str) -> int:
    """Returns what a function of the library has returned, unless it failed."""
    if result < 0:
        raise failure(-result, about)
    return result


def encode(text: str, about: str) -> bytes:
    """Returns a text as the library takes it."""
    if not isinstance(text, str):
        raise TypeError(f"{about} must be a str, not {type(text).__name__}")
    if "\0" in text:
        raise InvalidError(errno.EINVAL, "contains a NUL", text)
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise InvalidError(errno.EINVAL, "contains half of a surrogate pair", repr(text)) from None


def encode_optional(text: str | None, about: str):
    """Returns a text as the library takes it, None as a null pointer."""
    return ffi.NULL if text is None else encode(text, about)
