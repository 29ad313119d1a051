# Shares a number with the other processes of the user, and tells them that it has changed.
# prints: the level is 3
import asyncio

import darwinnotify as dn


async def main():
    level = dn.State("com.example.level")
    async with dn.observe(level.name) as events:
        level.value = 3
        dn.post(level.name)
        async for _ in events:
            print("the level is", level.value)
            break


asyncio.run(main())
