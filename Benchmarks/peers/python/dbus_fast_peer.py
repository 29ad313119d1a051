"""dbus-fast, the D-Bus library of Home Assistant: asyncio, one message handler for everything.

It matches nothing by itself for plain messages: the handler looks up who observes the signal, and
the program asks the bus for the rule. send() writes at once; when the socket is full, version 5
closes the connection, awaited or not: a flood waits for the bus now and then, by a call to it. The
commands are those of bench.h.
"""

import asyncio
import resource
import sys
import time

from dbus_fast import BusType, Message, MessageType
from dbus_fast.aio import MessageBus

import peer

PATH = "/org/example/bench"
WARM_UP = 3
FLUSH_EVERY = 64
MEMORY_LIMIT = 1 << 30
observers = {}
bus = None


async def observe(name, heard):
    """Returns when no later post can be missed."""
    interface, _, member = name.rpartition(".")
    key = interface, member
    observers.setdefault(key, []).append(heard)
    if len(observers[key]) > 1:
        return
    rule = f"type='signal',path='{PATH}',interface='{interface}',member='{member}'"
    await call_bus("AddMatch", "s", [rule])


async def call_bus(member, signature="", body=()):
    reply = await bus.call(Message(
        destination="org.freedesktop.DBus", path="/org/freedesktop/DBus",
        interface="org.freedesktop.DBus", member=member, signature=signature, body=list(body)))
    if reply.message_type != MessageType.METHOD_RETURN:
        sys.exit(f"{member} failed")


def on_message(message):
    if message.message_type is MessageType.SIGNAL and message.path == PATH:
        for heard in observers.get((message.interface, message.member), ()):
            heard()


def post(name):
    interface, _, member = name.rpartition(".")
    try:
        return bus.send(Message.new_signal(PATH, interface, member))
    except OSError:
        sys.exit("the library closed the connection, because its socket was full")


async def begin():
    await asyncio.to_thread(peer.begin)
    peer.end_with_input()


async def finish():
    peer.say("done")
    await asyncio.Future()


async def receive(path, slot, n_names, n_observers, prefix):
    noted = peer.Slot(path, slot, n_observers)
    for index in range(int(n_names)):
        for _ in range(noted.n_observers):
            await observe(f"{prefix}.n{index}", noted.note)
    peer.say("ready")
    peer.end_with_input()
    await bus.wait_for_disconnect()


async def echo(prefix):
    await observe(f"{prefix}.ping", lambda: post(f"{prefix}.pong"))
    peer.say("ready")
    peer.end_with_input()
    await bus.wait_for_disconnect()


async def latency(path, n_slots, n_each, n_warm_up, rest_us, n_posts, prefix):
    timing = peer.Timing(peer.map_board(path), n_slots)
    await begin()
    for number in range(int(n_warm_up) + int(n_posts)):
        timing.begin()
        post(f"{prefix}.n0")
        timing.returned()
        while not timing.is_heard((number + 1) * int(n_each)):
            await asyncio.sleep(0.00005)
        if number >= int(n_warm_up):
            timing.show()
        await asyncio.sleep(int(rest_us) / 1e6)
    await finish()


async def roundtrip(n_posts, prefix):
    answered = None
    await observe(f"{prefix}.pong", lambda: answered.set_result(None))
    await begin()
    for number in range(WARM_UP + int(n_posts)):
        start, answered = time.monotonic_ns(), asyncio.get_running_loop().create_future()
        post(f"{prefix}.ping")
        await asyncio.wait_for(answered, 20)
        if number >= WARM_UP:
            print(time.monotonic_ns() - start)
    await finish()


async def flood(duration_ms, n_names, pause_us, _, prefix):
    names = [f"{prefix}.n{index}" for index in range(int(n_names))]
    await begin()
    n, start = 0, time.monotonic_ns()
    while time.monotonic_ns() - start < int(duration_ms) * 1_000_000:
        await post(names[n % len(names)])
        n += 1
        if int(pause_us):
            await asyncio.sleep(int(pause_us) / 1e6)
        elif n % FLUSH_EVERY == 0:
            await call_bus("GetId")
    print(n, start, time.monotonic_ns())
    await finish()


async def stalled(duration_ms, prefix):
    def resident():
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * resource.getpagesize()
    await begin()
    before, n, start, outcome = resident(), 0, time.monotonic_ns(), "taken"
    while time.monotonic_ns() - start < int(duration_ms) * 1_000_000:
        post(f"{prefix}.n0")
        n += 1
        if n % 4096 == 0 and resident() > MEMORY_LIMIT:
            outcome = "memory"
            break
    print(n, time.monotonic_ns() - start, before, resident(), outcome)
    await finish()


async def first(prefix):
    await post(f"{prefix}.n0")


async def main():
    global bus
    bus = await MessageBus(bus_type=BusType.SESSION).connect()
    bus.add_message_handler(on_message)
    await globals()[sys.argv[1]](*sys.argv[2:])

asyncio.run(main())
