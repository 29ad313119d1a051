#!/usr/bin/env python3
"""Switches the light whose label light-label shows, with nothing but SQLite and notifyutil.

    light-switch.py on | off | toggle | show

docs/store.md describes the file. notifyutil must be in the PATH; NOTIFYUTIL names another one.
"""

import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

GROUP, NAME = "org.example.lights", "org.example.light.state"


def open_store():
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local/share"
    path = Path(data, GROUP, "wormhole", "store.sqlite")
    if not path.exists():
        sys.exit("light-switch.py: no Swift program has made the store yet")
    # Each statement is a transaction: a program that forgot to commit would make others wait.
    store = sqlite3.connect(path, isolation_level=None)
    store.execute("PRAGMA busy_timeout = 10000")
    store.execute("PRAGMA synchronous = NORMAL")
    return store


def read(store):
    row = store.execute(
        "SELECT value FROM messages WHERE name = ? ORDER BY id DESC LIMIT 1", (NAME,)).fetchone()
    return json.loads(row[0]) if row else None


def switch(store, change):
    """Passes the state that follows from the current one; no other program passes one between."""
    store.execute("BEGIN IMMEDIATE")
    store.execute("INSERT INTO pass(name, value, sender, pid) VALUES(?, ?, 'light-switch.py', ?)",
                  (NAME, json.dumps(change(read(store))), os.getpid()))
    (post,) = store.execute("SELECT post FROM messages WHERE name = ? LIMIT 1", (NAME,)).fetchone()
    store.execute("COMMIT")
    subprocess.run([os.environ.get("NOTIFYUTIL", "notifyutil"), "-p", post], check=True)


def main():
    changes = {"on": lambda _: True, "off": lambda _: False, "toggle": lambda state: not state}
    if len(sys.argv) != 2 or sys.argv[1] not in {*changes, "show"}:
        sys.exit(__doc__)
    store = open_store()
    if sys.argv[1] == "show":
        print({None: "unknown", True: "on", False: "off"}[read(store)])
    else:
        switch(store, changes[sys.argv[1]])


if __name__ == "__main__":
    main()
