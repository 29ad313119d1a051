"""Times requests of one process to another by dbus-fast: a service interface, and call().

    dbus_fast_calls.py smoke|quick|full
"""

import asyncio
import json
import os
import statistics
import sys
import time

from dbus_fast import Message, MessageType, Variant
from dbus_fast.aio import MessageBus
from dbus_fast.service import ServiceInterface, method

NAME, PATH, INTERFACE = "org.example.Bench.Fast", "/org/example/Bench/Fast", "org.example.Bench"
N_CALLS = 10 if sys.argv[1:2] == ["smoke"] else 1000


class Service(ServiceInterface):
    def __init__(self):
        super().__init__(INTERFACE)

    @method()
    def Echo(self, info: "a{sv}") -> "v":  # noqa: F722 a signature
        return Variant("s", info["text"].value)


async def serve(ready):
    bus = await MessageBus().connect()
    bus.export(PATH, Service())
    await bus.request_name(NAME)
    os.write(ready, b"r")
    await bus.wait_for_disconnect()


def start():
    read_end, write_end = os.pipe()
    caller = os.getpid()
    if os.fork() == 0:
        import ctypes
        ctypes.CDLL(None).prctl(1, 9)  # PR_SET_PDEATHSIG, SIGKILL
        if os.getppid() == caller:
            asyncio.run(serve(write_end))
        os._exit(0)
    os.close(write_end)
    if os.read(read_end, 1) != b"r":
        sys.exit("the service does not start")


async def one(bus):
    reply = await bus.call(Message(
        destination=NAME, path=PATH, interface=INTERFACE, member="Echo", signature="a{sv}",
        body=[{"text": Variant("s", "blue")}]))
    if reply.message_type != MessageType.METHOD_RETURN or reply.body[0].value != "blue":
        sys.exit("the call failed")


async def measure():
    bus = await MessageBus().connect()
    times = []
    for _ in range(N_CALLS + N_CALLS // 5):
        begin = time.perf_counter()
        await one(bus)
        times.append(time.perf_counter() - begin)
    print_figure("request", statistics.median(times[N_CALLS // 5:]) * 1e6)
    for _ in range(2):
        begin = time.perf_counter()
        try:
            await asyncio.gather(*(one(bus) for _ in range(N_CALLS)))
        except OSError:  # dbus-fast disconnects when the socket is full
            os._exit(0)
        duration = time.perf_counter() - begin
    print_figure("requests_flood", N_CALLS / duration)


def print_figure(figure, value):
    print(json.dumps({"figure": figure, "contender": "dbus-fast", "value": round(value, 2)}),
          flush=True)


start()
asyncio.run(measure())
