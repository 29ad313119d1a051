# Ends an observer when the service manager asks for it.
# prints: received com.example.changed
# prints: stopped
import asyncio
import os
import signal

import darwinnotify as dn


async def observe():
    async with dn.observe("com.example.changed") as events:
        dn.post("com.example.changed")
        async for event in events:
            print("received", event.name)
            os.kill(os.getpid(), signal.SIGTERM)  # as systemctl stop does


async def main():
    task = asyncio.create_task(observe())
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    try:
        await task
    except asyncio.CancelledError:
        print("stopped")


asyncio.run(main())
