# Handles what can fail.
# prints: InvalidError: contains a NUL
# prints: nobody is there
# prints: RemoteError: the deck is playing
# prints: TimeoutError
import asyncio
import errno

import darwinnotify as dn


async def load():
    raise dn.RemoteError("org.example.Error.Busy", "the deck is playing")


async def main():
    try:
        dn.post("com.example\0changed")
    except dn.InvalidError as error:
        print("InvalidError:", error.strerror)

    try:
        await dn.call("org.example.Nobody", "Search")
    except OSError as error:
        if error.errno == errno.ENXIO:
            print("nobody is there")

    handlers = {"Load": load, "Wait": lambda: asyncio.sleep(60)}
    async with dn.Service("org.example.Player", handlers):
        try:
            await dn.call("org.example.Player", "Load")
        except dn.RemoteError as error:
            print("RemoteError:", error.message)
        try:
            await dn.call("org.example.Player", "Wait", timeout=0.1)
        except TimeoutError:
            print("TimeoutError")


asyncio.run(main())
