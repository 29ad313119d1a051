# Waits for several names, and for one of them at most a while.
# prints: opened
# prints: nothing else happens
import asyncio

import darwinnotify as dn


async def main():
    opened, closed = dn.observe("com.example.opened"), dn.observe("com.example.closed")
    async with opened, closed:
        dn.post("com.example.opened")
        waits = [asyncio.create_task(anext(events)) for events in (opened, closed)]
        done, _ = await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            print(task.result().name.rpartition(".")[2])
        try:
            await asyncio.wait_for(waits[1], timeout=0.1)
        except asyncio.TimeoutError:
            print("nothing else happens")


asyncio.run(main())
