"""Converts dictionaries of Python to those of the library, and back."""
from __future__ import annotations

import errno
from collections.abc import Mapping
from datetime import datetime, timedelta, timezone
from typing import Any

from ._errors import InvalidError, check, encode
from ._native import ffi, lib

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_MICROSECOND = timedelta(microseconds=1)
_MAX_DEPTH = 20  # of the library; a list that contains itself must not go on for ever


def pack(values: Mapping[str, Any] | None):
    """Returns a dictionary of the library, owned; a null pointer for None."""
    if values is None:
        return ffi.NULL
    if not isinstance(values, Mapping):
        raise TypeError(f"a dictionary must be a mapping, not {type(values).__name__}")
    builder = lib.dn_dict_builder_new()
    try:
        _add_all(builder, values, 1)
    except BaseException:
        lib.dn_dict_builder_free(builder)
        raise
    made = ffi.new("dn_dict **")
    check(lib.dn_dict_builder_finish(builder, made), "dictionary")
    return ffi.gc(made[0], lib.dn_dict_unref)


def _add_all(builder, values: Mapping[str, Any], depth: int) -> None:
    for key, value in values.items():
        _add(builder, encode(key, "a key"), value, depth)


def _add(builder, key, value: Any, depth: int) -> None:
    if depth > _MAX_DEPTH:
        raise InvalidError(errno.E2BIG, "is nested too deeply", "dictionary")
    if isinstance(value, str):
        lib.dn_dict_builder_set_string(builder, key, encode(value, "a value"))
    elif isinstance(value, bool):
        lib.dn_dict_builder_set_bool(builder, key, value)
    elif isinstance(value, int):
        _add_integer(builder, key, value)
    elif isinstance(value, float):
        lib.dn_dict_builder_set_double(builder, key, value)
    elif isinstance(value, (bytes, bytearray, memoryview)):
        data = bytes(value)
        lib.dn_dict_builder_set_data(builder, key, data, len(data))
    elif isinstance(value, datetime):
        lib.dn_dict_builder_set_date(builder, key, _microseconds(value))
    elif isinstance(value, Mapping):
        lib.dn_dict_builder_begin_dict(builder, key)
        _add_all(builder, value, depth + 1)
        lib.dn_dict_builder_end(builder)
    elif isinstance(value, (list, tuple)):
        lib.dn_dict_builder_begin_array(builder, key)
        for item in value:
            _add(builder, ffi.NULL, item, depth + 1)
        lib.dn_dict_builder_end(builder)
    else:
        raise TypeError(f"cannot be sent: {type(value).__name__}")


def _add_integer(builder, key, value: int) -> None:
    if -(2**63) <= value < 2**63:
        lib.dn_dict_builder_set_int64(builder, key, value)
    elif 0 < value < 2**64:
        lib.dn_dict_builder_set_uint64(builder, key, value)
    else:
        raise InvalidError(errno.EINVAL, "does not fit into 64 bits", str(value))


def _microseconds(date: datetime) -> int:
    if date.tzinfo is None:
        raise InvalidError(errno.EINVAL, "has no time zone", str(date))
    return (date - _EPOCH) // _MICROSECOND


def unpack(values) -> dict[str, Any]:
    """Returns a dictionary of the library, which may be a null pointer, as one of Python."""
    value = ffi.new("dn_value *")
    result = {}
    for index in range(lib.dn_dict_get_count(values)):
        key = lib.dn_dict_get_at(values, index, value)
        result[ffi.string(key).decode()] = _value(value)
    return result


def _array(array) -> list[Any]:
    value = ffi.new("dn_value *")
    result = []
    for index in range(lib.dn_array_get_count(array)):
        lib.dn_array_get(array, index, value)
        result.append(_value(value))
    return result


def _date(microseconds: int) -> datetime:
    try:
        return _EPOCH + timedelta(microseconds=microseconds)
    except OverflowError:  # Python's dates end with the year 9999
        last = datetime.max.replace(tzinfo=timezone.utc)
        return last if microseconds > 0 else datetime.min.replace(tzinfo=timezone.utc)


_READERS = {
    lib.DN_TYPE_STRING: lambda value: ffi.string(value.string).decode(),
    lib.DN_TYPE_BOOL: lambda value: bool(value.boolean),
    lib.DN_TYPE_INT64: lambda value: value.int64,
    lib.DN_TYPE_UINT64: lambda value: value.uint64,
    lib.DN_TYPE_DOUBLE: lambda value: value.real,
    lib.DN_TYPE_DATE: lambda value: _date(value.date_us),
    lib.DN_TYPE_ARRAY: lambda value: _array(value.array),
    lib.DN_TYPE_DICT: lambda value: unpack(value.dict),
}


def _value(value) -> Any:
    kind = getattr(value, "type")
    if kind == lib.DN_TYPE_DATA:
        return bytes(ffi.buffer(getattr(value, "as").data, value.n_bytes))
    return _READERS[kind](getattr(value, "as"))
