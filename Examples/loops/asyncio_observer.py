#!/usr/bin/env python3
"""Hears Darwin notifications in Python, by the C library and asyncio.

    asyncio_observer.py COUNT NAME...     ends after COUNT notifications, 0: never
"""
import asyncio
import atexit
import ctypes
import os
import struct
import sys

library = ctypes.CDLL("libdarwinnotify.so.1")
# Ends the threads of the library while there is still an interpreter. A program with callbacks of
# ctypes needs this: Python ends a thread that comes back from C later, and the process aborts.
# Python has joined the program's threads by now; only a daemon thread could still be in the library.
atexit.register(library.dn_shutdown)


def register(name):
    """Returns a token, and a descriptor with 4 bytes to read for each post."""
    token, descriptor = ctypes.c_int(), ctypes.c_int()
    status = library.notify_register_file_descriptor(
        os.fsencode(name), ctypes.byref(descriptor), 0, ctypes.byref(token))
    if status != 0:
        sys.exit(f"{name}: status {status}")
    return token.value, descriptor.value


async def listen(count, names):
    posts = asyncio.Queue()
    for name in names:
        token, descriptor = register(name)

        def read(name=name, token=token, descriptor=descriptor):
            assert struct.unpack("!i", os.read(descriptor, 4)) == (token,)
            posts.put_nowait(name)

        asyncio.get_running_loop().add_reader(descriptor, read)
    print("ready", flush=True)
    while True:
        print("received", await posts.get(), flush=True)
        count -= 1
        if count == 0:
            return


if len(sys.argv) < 3:
    sys.exit("usage: asyncio_observer.py COUNT NAME...")
asyncio.run(listen(int(sys.argv[1]), sys.argv[2:]))
