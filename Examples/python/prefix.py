# Observes all names that begin with a prefix.
# prints: com.example.door.opened
# prints: com.example.door.closed
import asyncio

import darwinnotify as dn


async def main():
    async with dn.observe(prefix="com.example.door.") as events:
        dn.post("com.example.door.opened")
        dn.post("com.example.door.closed")
        async for event in events:
            print(event.name)
            if event.name.endswith(".closed"):
                break


asyncio.run(main())
