# Posts a name, and hears it as every other process of the user does.
# prints: received com.example.changed
import asyncio

import darwinnotify as dn


async def main():
    async with dn.observe("com.example.changed") as events:
        dn.post("com.example.changed")
        async for event in events:
            print("received", event.name)
            break


asyncio.run(main())
