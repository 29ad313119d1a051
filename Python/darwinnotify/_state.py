"""States: 64 bits beside a name, which the processes of the user share."""
from __future__ import annotations

import errno

from ._errors import InvalidError, check, encode, failure
from ._native import ffi, lib
from ._process import after_fork, started

# The status codes of notify.h.
_ERRORS = {1: errno.EINVAL, 7: errno.EACCES, 8: errno.EPERM, 9: errno.ENOTCONN}

# A state lasts as long as a process has a registration for its name: until this one ends.
_tokens: dict[bytes, int] = {}


@after_fork
def _forget() -> None:
    _tokens.clear()


def _token(name: bytes) -> int:
    started()
    token = _tokens.get(name)
    if token is None:
        made = ffi.new("int *")
        _check(lib.notify_register_check(name, made), name)
        token = _tokens.setdefault(name, made[0])
    return token


def _check(status: int, name: bytes) -> None:
    if status != 0:
        raise failure(_ERRORS.get(status, errno.ENOMEM), name.decode())


class State:
    """The state of a name: an integer from 0 to 2**64 - 1, at first 0.

    It stays until all processes that have used it have ended. Setting it posts nothing.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._key = encode(name, "a name")
        _token(self._key)

    def __repr__(self) -> str:
        return f"State({self.name!r})"

    @property
    def value(self) -> int:
        """The state; set it to change it, for all processes at once."""
        value = ffi.new("uint64_t *")
        _check(lib.notify_get_state(_token(self._key), value), self._key)
        return value[0]

    @value.setter
    def value(self, value: int) -> None:
        if not isinstance(value, int):
            raise TypeError(f"a state must be an int, not {type(value).__name__}")
        if not 0 <= value < 2**64:
            raise InvalidError(errno.EINVAL, "does not fit into 64 bits", str(value))
        if not check(lib.dn_may_post(self._key), self.name):
            raise failure(errno.EACCES, self.name)
        _check(lib.notify_set_state(_token(self._key), value), self._key)
