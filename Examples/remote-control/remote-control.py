#!/usr/bin/env python3
"""Asks the player for tracks whose title contains a text."""
import asyncio
import sys

import darwinnotify as dn


async def main():
    for track in await dn.call("org.example.Player", "Search", text=sys.argv[1]):
        print(f"found {track['number']}: {track['title']}")


asyncio.run(main())
