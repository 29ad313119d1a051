#!/usr/bin/env python3
"""Hears Darwin notifications in Python, on asyncio.

    asyncio_observer.py COUNT NAME...     ends after COUNT notifications, 0: never
"""
import asyncio
import contextlib
import sys

import darwinnotify


async def listen(count, names):
    posts = asyncio.Queue()
    with contextlib.ExitStack() as observers:
        for name in names:
            observers.enter_context(darwinnotify.on(name, posts.put_nowait))
        print("ready", flush=True)
        while True:
            event = await posts.get()
            print("received", event.name, flush=True)
            count -= event.posts
            if count == 0:
                return


if len(sys.argv) < 3:
    sys.exit("usage: asyncio_observer.py COUNT NAME...")
asyncio.run(listen(int(sys.argv[1]), sys.argv[2:]))
