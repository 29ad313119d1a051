# Answers requests, and asks itself as another process would.
# prints: found 3: Kind of Blue
import asyncio

import darwinnotify as dn

tracks = [{"number": 3, "title": "Kind of Blue"}, {"number": 4, "title": "Giant Steps"}]


async def search(text):
    return [track for track in tracks if text in track["title"]]


async def main():
    async with dn.Service("org.example.Player", {"Search": search}):
        for track in await dn.call("org.example.Player", "Search", text="Blue", timeout=10):
            print(f"found {track['number']}: {track['title']}")


asyncio.run(main())
