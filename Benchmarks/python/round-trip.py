#!/usr/bin/env python3
"""Measures a round trip between two processes with asyncio, by the package and by bare ctypes.

    round-trip.py [SECONDS]     prints medians in microseconds, and their ratio

A post of this process is answered by a post of the other. The two ways alternate, so that what else
the machine does affects both. The package darwinnotify and libdarwinnotify.so.1 must be found.
"""
import asyncio
import ctypes
import os
import statistics
import sys
import time

import darwinnotify

CHUNK = 200


class Package:
    """The package, as a program uses it."""

    async def trips(self, count, post, observe):
        async with darwinnotify.observe(observe) as events:
            await asyncio.sleep(0.2)  # until the other process observes
            times = []
            for _ in range(count):
                began = time.perf_counter_ns()
                darwinnotify.post(post)
                await events.__anext__()
                times.append(time.perf_counter_ns() - began)
            return times

    async def answer(self, count, observe, post):
        async with darwinnotify.observe(observe) as events:
            for _ in range(count):
                await events.__anext__()
                darwinnotify.post(post)


class Bare:
    """The least that a program can do by itself: a descriptor of <notify.h>, and a future."""

    def __init__(self):
        self.library = ctypes.CDLL("libdarwinnotify.so.1")

    def observe(self, name):
        token, descriptor = ctypes.c_int(), ctypes.c_int()
        assert self.library.notify_register_file_descriptor(
            name.encode(), ctypes.byref(descriptor), 0, ctypes.byref(token)) == 0
        posts, number = asyncio.Queue(), descriptor.value
        asyncio.get_running_loop().add_reader(
            number, lambda: posts.put_nowait(os.read(number, 4)))
        return posts, token

    def post(self, name):
        assert self.library.notify_post(name.encode()) == 0

    async def trips(self, count, post, observe):
        posts, token = self.observe(observe)
        await asyncio.sleep(0.2)
        times = []
        for _ in range(count):
            began = time.perf_counter_ns()
            self.post(post)
            await posts.get()
            times.append(time.perf_counter_ns() - began)
        self.library.notify_cancel(token)
        return times

    async def answer(self, count, observe, post):
        posts, token = self.observe(observe)
        for _ in range(count):
            await posts.get()
            self.post(post)
        self.library.notify_cancel(token)


def measure(way, name):
    """Returns the times of some round trips, in nanoseconds."""
    ping, pong = f"com.example.{name}.ping", f"com.example.{name}.pong"
    child = os.fork()
    if child == 0:
        try:
            asyncio.run(way.answer(CHUNK, ping, pong))
        finally:
            os._exit(0)
    times = asyncio.run(way.trips(CHUNK, ping, pong))
    os.waitpid(child, 0)
    return times


def main():
    limit = time.monotonic() + (float(sys.argv[1]) if len(sys.argv) > 1 else 10)
    ways = {"package": Package(), "ctypes": Bare()}
    times = {name: [] for name in ways}
    while time.monotonic() < limit or not times["ctypes"]:
        for name, way in ways.items():
            times[name] += measure(way, f"{name}{len(times[name])}")[20:]
    medians = {name: statistics.median(times[name]) / 1000 for name in ways}
    for name, median in medians.items():
        p99 = statistics.quantiles(times[name], n=100)[98] / 1000
        print(f"{name}: median {median:.1f} us, p99 {p99:.1f} us, {len(times[name])} round trips")
    print(f"ratio: {medians['package'] / medians['ctypes']:.2f}")


main()
