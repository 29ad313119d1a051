"""The life of a process: it sleeps when nothing happens, and ends cleanly however it ends."""
import asyncio
import os
import signal
import subprocess
import sys
import time

import darwinnotify as dn
import pytest
from support import LIMIT, in_child, run, start, take

NAME = "com.example.changed"

# Everything that the package can have in use at its end, in a flood of posts.
BUSY = """
import asyncio, os, signal, sys, threading
import darwinnotify as dn

seen = threading.Event()
first = dn.on("com.example.changed", lambda event: seen.set())
second = dn.on(None, lambda event: None, prefix="com.example.")
third = dn.distributed.on(None, lambda event: None)
level = dn.State("com.example.level")
level.value = 3
for index in range(300):
    dn.post("com.example.changed")
    dn.distributed.post("com.example.other", user_info={"index": index})
seen.wait()
"""

# The same in asyncio.
BUSY_LOOP = """
import asyncio, os, signal, sys
import darwinnotify as dn

async def work(end):
    dn.on("com.example.changed", lambda event: None)
    async with dn.observe("com.example.changed") as events, dn.observe(prefix="com.") as others:
        for _ in range(300):
            dn.post("com.example.changed")
        await events.__anext__()
        await end()
"""


# Waits in the loop, with events that nobody reads.
IDLE_LOOP = BUSY_LOOP + """
async def wait():
    print("ready", flush=True)
    await asyncio.sleep(1000)

asyncio.run(work(wait))
"""


@pytest.mark.parametrize("program", [
    pytest.param(BUSY + "print('ready', flush=True); signal.pause()", id="threads"),
    pytest.param(IDLE_LOOP, id="loop")])
def test_an_idle_process_does_not_wake_up(program):
    process = start(program)
    assert process.stdout.readline() == "ready\n"

    def wakes():
        folder = f"/proc/{process.pid}/task"
        total = 0
        for task in os.listdir(folder):
            with open(f"{folder}/{task}/status") as file:
                total += sum(int(line.split()[1]) for line in file if "ctxt_switches" in line)
        return total

    deadline = time.monotonic() + LIMIT
    while time.monotonic() < deadline:
        before = wakes()
        time.sleep(0.5)
        if wakes() == before:
            break
    else:
        pytest.fail("it wakes up again and again")
    process.kill()
    process.communicate()


@pytest.mark.parametrize("end, status", [
    ("", 0), ("sys.exit(3)", 3), ("os._exit(4)", 4),
    ("os.kill(os.getpid(), signal.SIGTERM); signal.pause()", -signal.SIGTERM)])
def test_a_process_ends(end, status):
    assert run(BUSY + end) == (status, "", "")


@pytest.mark.parametrize("end, status, word", [
    ("raise KeyError('why')", 1, "KeyError"),
    ("os.kill(os.getpid(), signal.SIGINT); signal.pause()", -signal.SIGINT, "KeyboardInterrupt")])
def test_a_process_ends_by_an_exception(end, status, word):
    found, output, errors = run(BUSY + end)
    assert (found, output) == (status, "") and errors.strip().splitlines()[-1].startswith(word)
    assert errors.count("Traceback") == 1


@pytest.mark.parametrize("end, status", [
    ("pass", 0), ("sys.exit(3)", 3), ("os._exit(4)", 4)])
def test_a_loop_ends(end, status):
    program = BUSY_LOOP + f"""
async def stop():
    {end}

asyncio.run(work(stop))
"""
    assert run(program) == (status, "", "")


def test_a_loop_ends_by_an_exception():
    status, output, errors = run(BUSY_LOOP + """
async def fail():
    raise KeyError("why")

asyncio.run(work(fail))
""")
    assert (status, output, errors.count("Traceback")) == (1, "", 1)
    assert errors.strip().splitlines()[-1] == "KeyError: 'why'"


@pytest.mark.parametrize("number, words", [
    (signal.SIGINT, "KeyboardInterrupt"), (signal.SIGTERM, "")])
def test_a_loop_ends_by_a_signal(number, words):
    process = start(IDLE_LOOP)
    assert process.stdout.readline() == "ready\n"
    process.send_signal(number)
    _, errors = process.communicate(timeout=LIMIT)
    assert process.returncode == -number
    assert words in errors if words else errors == ""


def test_a_callback_that_does_not_return_delays_the_end_by_a_second():
    began = time.monotonic()
    program = """
import threading, time, darwinnotify as dn
begun = threading.Event()
dn.on("com.example.changed", lambda event: (begun.set(), time.sleep(1000)))
dn.post("com.example.changed")
begun.wait()
"""
    assert run(program) == (0, "", "")
    assert time.monotonic() - began < 30


async def test_the_posts_of_a_process_that_ends_arrive(bus):
    if bus.kind == "none":
        pytest.skip("without a bus they stay in the process")
    async with dn.distributed.observe() as events:
        program = """
import darwinnotify as dn
for index in range(500):
    dn.distributed.post("com.example.other", user_info={"index": index})
"""
        assert run(program) == (0, "", "")
        received = await take(events, 500)
    assert [event.user_info["index"] for event in received] == list(range(500))


def test_a_forked_child_starts_afresh():
    program = BUSY + """
child = os.fork()
if child == 0:
    again = threading.Event()
    first.cancel()
    with dn.on("com.example.child", lambda event: again.set()):
        dn.post("com.example.child")
        assert again.wait(50)
    assert level.value == 3
    sys.exit(5)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 5
seen.clear()
dn.post("com.example.changed")
assert seen.wait(50)
"""
    assert run(program) == (0, "", "")


def test_a_forked_child_does_not_read_what_its_parent_observes():
    async def observe():
        async with dn.observe(NAME) as events:
            def look():
                assert events._reader._mailbox.receive() == []
                events._reader._mailbox.close()

            dn.post(NAME)
            assert in_child(look) == 0
            assert [event.name for event in await take(events, 1)] == [NAME]

    asyncio.run(observe())


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_processes_of_multiprocessing_post_and_end(bus, tmp_path, method):
    if bus.kind == "none":
        pytest.skip("without a bus they stay in the process")
    program = tmp_path / "program.py"
    program.write_text("""
import asyncio, multiprocessing, sys
import darwinnotify as dn

def work(index):
    with dn.on("com.example.changed", print):
        dn.distributed.post("com.example.result", user_info={"index": index})

async def main(method):
    context = multiprocessing.get_context(method)
    async with dn.distributed.observe("com.example.result") as events:
        with context.Pool(3) as pool:
            result = pool.map_async(work, range(10))
            found = [(await events.__anext__()).user_info["index"] for _ in range(10)]
            result.wait()
            pool.close()
            pool.join()
        process = context.Process(target=work, args=(10,))
        process.start()
        found.append((await events.__anext__()).user_info["index"])
        process.join()
    print(sorted(found), process.exitcode)

if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
""")
    ended = subprocess.run([sys.executable, str(program), method], text=True, capture_output=True,
                           timeout=LIMIT)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, f"{list(range(11))} 0\n", "")


def test_loops_of_other_threads_go_on_when_the_main_thread_has_ended():
    program = """
import asyncio, threading, darwinnotify as dn

async def main():
    async with dn.observe("com.example.changed") as events:
        dn.post("com.example.changed")
        await events.__anext__()

threads = [threading.Thread(target=asyncio.run, args=(main(),)) for _ in range(4)]
for thread in threads:
    threading.Timer(0.2 * threads.index(thread), thread.start).start()
"""
    assert run(program) == (0, "", "")
