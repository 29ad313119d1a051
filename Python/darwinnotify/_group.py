"""The messages of an app group, which programs in Swift pass with the module Wormhole.

They are rows of an SQLite file, the store, which docs/store.md describes: everything here goes
through its views.
"""
from __future__ import annotations

import asyncio
import collections
import errno
import json
import os
import plistlib
import sqlite3
import stat
import sys
import threading
import time
from typing import Any, NamedTuple

from ._center import Observation, observe, post
from ._errors import InvalidError, encode, failure
from ._process import after_fork

_SCHEMA = os.path.join(os.path.dirname(__file__), "store.sql")
_KIND, _VERSION = 0x57485354, 1
_BATCH = 256
_WAIT = 10.0  # seconds, for other writers
_COLUMNS = "number, time, sender, pid, codec, value"

# SQLite must not use in a child what its parent has opened, nor close it there.
_connections: list[sqlite3.Connection] = []
_abandoned: list[sqlite3.Connection] = []
_generation = 0


@after_fork
def _abandon() -> None:
    global _generation
    _generation += 1
    _abandoned.extend(_connections)
    _connections.clear()


class Message(NamedTuple):
    """A message of a group."""

    name: str
    number: int
    """Among all records of its name, from 1; pings and clearings also have numbers."""
    value: Any
    """What was passed; None, with an `error`, if it cannot be read."""
    time: float
    """When it was passed, in seconds since 1970."""
    sender: str | None
    """The program that passed it, as it claims."""
    process: int | None
    """The process that passed it, as it claims."""
    error: str | None
    """Why the value cannot be read; None if it can."""


def _decode(codec: str | None, value: Any) -> Any:
    if codec == "json":
        return json.loads(value)
    if codec == "plist":
        return plistlib.loads(value, fmt=plistlib.FMT_BINARY)[0]
    if codec == "raw":
        return bytes(value)
    raise ValueError(f"unknown codec {codec}")


def _message(name: str, row: tuple[Any, ...]) -> Message:
    number, time, sender, process, codec, stored = row
    value = error = None
    try:
        value = _decode(codec, stored)
    except Exception as reason:  # whatever another program has stored
        error = f"{type(reason).__name__}: {reason}"
    return Message(name, number, value, time, sender, process, error)


def _failure(error: sqlite3.Error, path: str) -> OSError:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # since Python 3.11
    if isinstance(error, sqlite3.IntegrityError):
        return InvalidError(errno.EINVAL, str(error), path)
    number = {5: errno.EBUSY, 8: errno.EROFS, 13: errno.ENOSPC}.get(code, errno.EIO)
    if "locked" in str(error):
        number = errno.EBUSY
    return OSError(number, str(error), path)


def _check_private(directory: str) -> None:
    """Makes a directory that only its user can write to, or checks that it is one."""
    os.makedirs(directory, mode=0o700, exist_ok=True)
    status = os.lstat(directory)
    if (not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid()
            or status.st_mode & 0o022):
        raise PermissionError(errno.EPERM, "is not a private directory of this user", directory)


def _identity(path: str) -> tuple[int, int] | None:
    """Returns what tells a file from another one; None if there is none."""
    try:
        status = os.lstat(path)
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino


class _Store:
    """The file, opened when it is first used, and anew in a forked child."""

    def __init__(self, group: str, directory: str, post_prefix: str) -> None:
        self._directories = (group, directory)
        self.path = os.path.join(directory, "store.sqlite")
        self._post_prefix = post_prefix
        self._lock = threading.RLock()
        self._database: sqlite3.Connection | None = None
        self._file: tuple[int, int] | None = None
        self._generation = _generation

    def run(self, *statements: tuple[str, tuple[Any, ...]]) -> list[tuple[Any, ...]]:
        """Runs statements, several of them as one transaction; returns the rows of the last."""
        if self._generation != _generation:
            self._generation, self._lock, self._database = _generation, threading.RLock(), None
        with self._lock:
            try:
                return self._transaction(self._current(), statements)
            except sqlite3.Error as error:
                raise _failure(error, self.path) from None

    def _transaction(self, database: sqlite3.Connection,
                     statements: tuple[tuple[str, tuple[Any, ...]], ...]) -> list[tuple[Any, ...]]:
        if len(statements) > 1:
            database.execute("BEGIN IMMEDIATE")
        try:
            rows = [database.execute(*statement).fetchall() for statement in statements]
            if len(statements) > 1:
                database.execute("COMMIT")
        except BaseException:
            if database.in_transaction:
                database.execute("ROLLBACK")
            raise
        return rows[-1]

    def _current(self) -> sqlite3.Connection:
        """Returns the connection to the file that is there now."""
        database = self._database
        if database is not None and self._file == _identity(self.path):
            return database
        if database is not None:
            self._database = None
            _connections.remove(database)
            database.close()
        return self._open()

    def _open(self) -> sqlite3.Connection:
        for directory in self._directories:
            _check_private(directory)
        self._make()
        database = sqlite3.connect(
            self.path, timeout=_WAIT, isolation_level=None, check_same_thread=False)
        database.execute("PRAGMA trusted_schema = OFF")
        if not self._has_schema(database):
            self._create(database)
        database.execute("PRAGMA synchronous = NORMAL")
        database.execute("PRAGMA secure_delete = FAST")
        _connections.append(database)
        self._database, self._file = database, _identity(self.path)
        return database

    def _make(self) -> None:
        """Makes the file if it is missing, without opening it: to close it would release the locks
        of this process."""
        try:
            os.mknod(self.path, stat.S_IFREG | 0o600)
        except FileExistsError:
            status = os.lstat(self.path)
            if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid():
                raise PermissionError(
                    errno.EPERM, "is not a file of this user", self.path) from None

    def _has_schema(self, database: sqlite3.Connection) -> bool:
        """Returns false if the file is empty. A schema that is not exactly ours is refused."""
        found = {sql for sql, in database.execute(
            "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")}
        if not found:
            return False
        if found != set(_statements()):
            raise OSError(errno.EILSEQ, "is not a store, or of another version", self.path)
        return True

    def _create(self, database: sqlite3.Connection) -> None:
        database.execute("PRAGMA page_size = 4096")
        database.execute("PRAGMA auto_vacuum = INCREMENTAL")
        self._begin_log(database)
        database.execute("BEGIN IMMEDIATE")
        if not self._has_schema(database):  # another process may have just done it
            for statement in _statements():
                database.execute(statement)
            database.execute("INSERT INTO store VALUES(1 + (random() & 0x7ffffffffffffffe), ?)",
                             (self._post_prefix,))
            database.execute(f"PRAGMA application_id = {_KIND}")
            database.execute(f"PRAGMA user_version = {_VERSION}")
        database.execute("COMMIT")


    def _begin_log(self, database: sqlite3.Connection) -> None:
        deadline = time.monotonic() + _WAIT
        while True:  # SQLite itself does not wait here
            try:
                mode, = database.execute("PRAGMA journal_mode = WAL").fetchone()
            except sqlite3.OperationalError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.002)
            else:
                break
        if mode != "wal":
            raise OSError(errno.ENOTSUP, "the file system has no shared memory", self.path)


# SQLite's locks are those of the process, so it opens each file once.
_stores: dict[str, _Store] = {}


def _store(group: str, post_prefix: str) -> _Store:
    directory = os.path.join(group, "wormhole")
    return _stores.setdefault(
        os.path.realpath(directory), _Store(group, directory, post_prefix))


def _statements() -> list[str]:
    with open(_SCHEMA, encoding="utf-8") as file:
        return file.read().rstrip("\n").split(";\n\n")


class Messages:
    """The messages of a group. Its functions wait up to ten seconds for other writers.

    In asyncio, run them on a thread: `await asyncio.to_thread(messages.pass_, name, value)`.
    """

    def __init__(self, store: _Store) -> None:
        self._store = store

    def pass_(self, name: str, value: Any, *, keep: int | None = None,
              type: str | None = None) -> int:
        """Stores a message, then notifies its readers. Returns its number.

        bytes are stored as they are, everything else as JSON. `keep` is how many messages the name
        is to keep, at first 1; it only grows. `type` is the name of the type that readers in Swift
        expect, which otherwise accept any.
        """
        codec = "raw" if isinstance(value, (bytes, bytearray)) else "json"
        stored = bytes(value) if codec == "raw" else json.dumps(value, allow_nan=False)
        program = os.path.basename(sys.argv[0]) or None
        return self._insert(name, value=stored, keep=keep, codec=codec, type=type, sender=program,
                            pid=os.getpid())

    def ping(self, name: str) -> None:
        """Asks the readers of a name to look; the messages stay."""
        self._insert(name, kind="ping")

    def clear(self, name: str) -> None:
        """Removes the messages of a name."""
        self._insert(name, kind="clear")

    def latest(self, name: str) -> Message | None:
        """Returns the newest message of a name, None if there is none."""
        rows = self._store.run((
            f"SELECT {_COLUMNS} FROM messages WHERE name = ? ORDER BY id DESC LIMIT 1", (name,)))
        return _message(name, rows[0]) if rows else None

    def history(self, name: str, since: int = 0) -> list[Message]:
        """Returns the kept messages of a name whose number is greater than `since`."""
        return self._read(name, since, -1)

    def names(self) -> list[str]:
        """Returns the names that have messages."""
        rows = self._store.run(("SELECT DISTINCT name FROM messages ORDER BY name", ()))
        return [name for name, in rows]

    def observe(self, name: str, since: int | None = None) -> MessageObservation:
        """Observes a name: first the newest message, if there is one, then each new one.

        With `since`, all kept messages with greater numbers come first. Used as the observations of
        observe(). A message of a name that keeps only the newest may be replaced before it is read.
        """
        return MessageObservation(self, name, since)

    def _insert(self, name: str, **columns: Any) -> Any:
        encode(name, "a name")
        marks = ", ?" * len(columns)
        rows = self._store.run(
            (f"INSERT INTO pass(name, {', '.join(columns)}) VALUES(?{marks})",
             (name, *columns.values())),
            ("SELECT max(number) FROM messages WHERE name = ?", (name,)))
        post(self._post(name))
        return rows[0][0]

    def _post(self, name: str) -> str:
        """Returns the Darwin name that announces a change."""
        (text,), = self._store.run(("SELECT post FROM store", ()))
        return text + name if text.endswith(".") else text

    def _read(self, name: str, since: int, limit: int) -> list[Message]:
        encode(name, "a name")
        rows = self._store.run((
            f"SELECT {_COLUMNS} FROM messages WHERE name = ?1 AND id > ?2 +"
            " (SELECT id - number FROM messages WHERE name = ?1 ORDER BY id DESC LIMIT 1)"
            " ORDER BY id LIMIT ?3", (name, since, limit)))
        return [_message(name, row) for row in rows]


class MessageObservation:
    """The messages of a name, in asyncio: `async with` begins and ends it, `async for` reads."""

    def __init__(self, messages: Messages, name: str, since: int | None) -> None:
        self._messages = messages
        self._name = name
        self._position = since
        self._read: collections.deque[Message] = collections.deque()
        self._events: Observation | None = None

    async def __aenter__(self) -> MessageObservation:
        name = await asyncio.to_thread(self._messages._post, self._name)
        self._events = await observe(name).__aenter__()
        return self

    async def __aexit__(self, *error: object) -> None:
        if self._events is not None:
            await self._events.__aexit__(*error)

    def __aiter__(self) -> MessageObservation:
        return self

    async def __anext__(self) -> Message:
        if self._events is None:
            raise RuntimeError("enter it first: async with … as messages")
        while not self._read and not await self._look():
            await self._events.__anext__()
        return self._read.popleft()

    async def _look(self) -> bool:
        """Reads what is new, and returns whether there was something."""
        if self._position is None:
            newest = await asyncio.to_thread(self._messages.latest, self._name)
            found = [] if newest is None else [newest]
            self._position = 0
        else:
            found = await asyncio.to_thread(
                self._messages._read, self._name, self._position, _BATCH)
        if found:
            self._position = found[-1].number
            self._read.extend(found)
        return bool(found)


def _file_name(text: str) -> str:
    """Returns the name of a directory for a text, as the module Wormhole makes it."""
    name = "".join(
        chr(byte) if chr(byte).isalnum() and byte < 128 or byte in b"-_" or byte == 46 and place > 0
        else f"%{byte:02X}" for place, byte in enumerate(text.encode()))
    if len(name) <= 180:
        return name
    hash_ = 0x6C62272E07BB014262B821756295C58D
    for byte in text.encode():
        hash_ = (hash_ ^ byte) * 0x0000000001000000000000000000013B % 2**128
    return f"{name[:140]}%%{hash_:032x}"


class Group:
    """A group of programs of the user, which share a directory and messages.

    Each program that names the group takes part in it. The directory is made when it is first used.
    """

    def __init__(self, identifier: str) -> None:
        encode(identifier, "a group")
        if not identifier:
            raise failure(errno.EINVAL, "group")
        self.identifier = identifier
        parent = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
        self.directory = os.path.join(parent, _file_name(identifier))
        prefix = f"wormhole.{identifier}.wormhole."
        if len(prefix.encode()) > 255:
            prefix = f"wormhole.{_file_name(f'{identifier}.wormhole')}."
        self.messages = Messages(_store(self.directory, prefix))

    def __repr__(self) -> str:
        return f"Group({self.identifier!r})"
