"""What the tests share."""
import asyncio
import os
import subprocess
import sys
import time

LIMIT = 50


async def eventually(condition):
    """Waits until a condition is true, while the loop runs."""
    deadline = time.monotonic() + LIMIT
    while not condition():
        assert time.monotonic() < deadline, "it does not become true"
        await asyncio.sleep(0.005)


def eventually_here(condition):
    """Waits until a condition is true, without a loop."""
    deadline = time.monotonic() + LIMIT
    while not condition():
        assert time.monotonic() < deadline, "it does not become true"
        time.sleep(0.005)


async def take(events, count):
    """Returns the next events."""
    return [await asyncio.wait_for(events.__anext__(), LIMIT) for _ in range(count)]


def start(program, *arguments):
    """Starts another process that runs Python code."""
    return subprocess.Popen(
        [sys.executable, "-c", program, *arguments], text=True, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def run(program, *arguments):
    """Runs Python code in another process. Returns its status, its output and its errors."""
    process = start(program, *arguments)
    output, errors = process.communicate(timeout=LIMIT)
    return process.returncode, output, errors


def in_child(function):
    """Runs a function in a forked child, and returns the child's status."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            function()
            status = 0
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
