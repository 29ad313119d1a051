# Shares values that are kept: a program that starts later finds the newest.
# prints: the light is off
# prints: the light is on
import asyncio

import darwinnotify as dn


async def main():
    messages = dn.Group("org.example.python.lights").messages
    messages.pass_("light", False)
    async with messages.observe("light") as stream:
        async for message in stream:
            print("the light is", "on" if message.value else "off")
            if message.value:
                break
            messages.pass_("light", True)


asyncio.run(main())
