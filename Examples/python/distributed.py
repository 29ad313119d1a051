# Sends an object and a user info through the distributed center.
# prints: deck plays So What, track 3
import asyncio

import darwinnotify as dn


async def main():
    async with dn.distributed.observe("org.example.player", object="deck") as events:
        dn.distributed.post("org.example.player", "deck", {"title": "So What", "track": 3})
        async for event in events:
            track = event.user_info
            print(f"{event.object} plays {track['title']}, track {track['track']}")
            break


asyncio.run(main())
