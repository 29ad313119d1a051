# Notifies the parent of what child processes have done.
# prints: 0 1 4 9 16
import asyncio
import multiprocessing

import darwinnotify as dn


def work(number):
    dn.distributed.post("com.example.result", user_info={"square": number * number})


async def main():
    async with dn.distributed.observe("com.example.result") as events:
        with multiprocessing.Pool(2) as pool:
            pool.map_async(work, range(5))
            squares = [(await anext(events)).user_info["square"] for _ in range(5)]
            pool.close()
            pool.join()
    print(*sorted(squares))


if __name__ == "__main__":
    asyncio.run(main())
