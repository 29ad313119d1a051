"""Posts, observations and callbacks on the Darwin center."""
import asyncio
import os
import signal
import threading
import time

import darwinnotify as dn
import pytest
from support import LIMIT, eventually, eventually_here, in_child, run, take

NAME = "com.example.changed"


async def test_an_observation_receives_a_post():
    async with dn.observe(NAME) as events:
        dn.post(NAME)
        event, = await take(events, 1)
    assert event == dn.Event(NAME, 1, 0, False, None, {})


async def test_posts_between_begin_and_read_wait():
    async with dn.observe(NAME) as events:
        for _ in range(3):
            dn.post(NAME)
        assert sum(event.posts for event in await take(events, 1)) >= 1


async def test_an_observation_receives_the_posts_of_another_process():
    async with dn.observe(NAME) as events:
        assert run(f"import darwinnotify as dn; dn.post('{NAME}')")[0] == 0
        event, = await take(events, 1)
    assert event.name == NAME


async def test_a_prefix_stands_for_all_names_that_begin_with_it():
    async with dn.observe(prefix="com.example.door.") as events:
        for name in ("com.example.door.opened", "com.example.window", "com.example.door.closed"):
            dn.post(name)
        names = [event.name for event in await take(events, 2)]
    assert names == ["com.example.door.opened", "com.example.door.closed"]


async def test_no_post_is_lost_while_nobody_reads():
    async with dn.observe(NAME) as events:
        for _ in range(1000):
            dn.post(NAME)
        total = 0
        while total < 1000:
            total += (await take(events, 1))[0].posts
    assert total == 1000


async def test_a_flood_of_a_prefix_arrives_post_by_post():
    count = 500
    async with dn.observe(prefix="com.example.") as events:
        for index in range(count):
            dn.post(f"com.example.n{index}")
        names = [event.name for event in await take(events, count)]
    assert names == [f"com.example.n{index}" for index in range(count)]


async def test_a_reader_that_is_cancelled_takes_no_event_along():
    async with dn.observe(NAME) as events:
        total = 0
        for _ in range(50):
            reader = asyncio.ensure_future(events.__anext__())
            await asyncio.sleep(0)
            dn.post(NAME)
            await asyncio.sleep(0.0005)
            reader.cancel()
            try:
                total += (await reader).posts
            except asyncio.CancelledError:
                pass
        while total < 50:
            total += (await take(events, 1))[0].posts
    assert total == 50


async def test_one_task_reads_at_a_time():
    async with dn.observe(NAME) as events:
        first = asyncio.ensure_future(events.__anext__())
        await asyncio.sleep(0)
        with pytest.raises(RuntimeError):
            await events.__anext__()
        dn.post(NAME)
        assert (await asyncio.wait_for(first, LIMIT)).name == NAME


async def test_an_observation_ends_with_its_block():
    async with dn.observe(NAME) as events:
        pass
    dn.post(NAME)
    with pytest.raises(StopAsyncIteration):
        await events.__anext__()
    with pytest.raises(RuntimeError):
        async with events:
            pass


async def test_a_waiting_reader_ends_with_the_block():
    observation = dn.observe(NAME)
    async with observation:
        reader = asyncio.ensure_future(observation.__anext__())
        await asyncio.sleep(0)
    with pytest.raises(StopAsyncIteration):
        await asyncio.wait_for(reader, LIMIT)


async def test_an_observation_that_is_not_entered_cannot_be_read():
    with pytest.raises(RuntimeError):
        await dn.observe(NAME).__anext__()


async def test_entering_leaves_the_loop_running_while_the_bus_does_not_answer(bus):
    if bus.kind == "none":
        pytest.skip("there is no bus to stop")
    bus.order("pause")
    n_turns = 0

    async def turn():
        nonlocal n_turns
        while True:
            n_turns += 1
            await asyncio.sleep(0.01)

    turning = asyncio.ensure_future(turn())
    async with dn.observe(NAME):
        turning.cancel()
    bus.order("resume")
    assert n_turns > 5


async def test_cancelling_the_entry_ends_the_observation(bus):
    if bus.kind == "none":
        pytest.skip("there is no bus to stop")
    bus.order("pause")
    observation = dn.observe(NAME)
    entry = asyncio.ensure_future(observation.__aenter__())
    await asyncio.sleep(0.05)
    entry.cancel()
    with pytest.raises(asyncio.CancelledError):
        await entry
    bus.order("resume")
    await eventually(lambda: observation._reader._mailbox._handle is None)


@pytest.mark.parametrize("name", ["", "a\0b", "\ud800", "\ufffe", "x" * 512])
async def test_malformed_names_are_refused(name):
    for attempt in (lambda: dn.post(name), lambda: dn.on(name, print), lambda: dn.State(name)):
        with pytest.raises(dn.InvalidError) as error:
            attempt()
        assert isinstance(error.value, OSError) and isinstance(error.value, ValueError)
        assert error.value.errno in (22, 36)
    with pytest.raises(dn.InvalidError):
        async with dn.observe(name):
            pass


def test_only_text_is_a_name():
    for name in (b"com.example", 3, None):
        with pytest.raises(TypeError):
            dn.post(name)
    for arguments in ({}, {"name": "a", "prefix": "b"}):
        with pytest.raises(TypeError):
            dn.observe(**arguments)


def test_names_of_other_users_are_refused():
    def post():
        if os.getuid() == 0:
            os.setuid(65534)
        for attempt in (lambda: dn.post("com.apple.system.test"), lambda: dn.post("user.uid.1"),
                        lambda: setattr(dn.State("com.apple.system.test"), "value", 1)):
            with pytest.raises(PermissionError):
                attempt()

    assert in_child(post) == 0


def test_a_callback_runs_on_a_thread():
    got = threading.Event()
    seen = []
    with dn.on(NAME, lambda event: (seen.append((event, threading.current_thread())), got.set())):
        dn.post(NAME)
        assert got.wait(LIMIT)
    assert seen[0][0].name == NAME
    assert seen[0][1].name == "darwinnotify" and seen[0][1] is not threading.main_thread()


async def test_a_callback_runs_on_the_loop_that_registered_it():
    got = asyncio.Event()
    threads = []
    with dn.on(NAME, lambda event: (threads.append(threading.current_thread()), got.set())):
        dn.post(NAME)
        await asyncio.wait_for(got.wait(), LIMIT)
    assert threads == [threading.main_thread()]


def test_a_callback_for_a_prefix_receives_every_post():
    seen = []
    with dn.on(None, seen.append, prefix="com.example."):
        for index in range(200):
            dn.post(f"com.example.n{index}")
        eventually_here(lambda: len(seen) == 200)
    assert [event.name for event in seen] == [f"com.example.n{index}" for index in range(200)]


def test_no_callback_follows_a_cancellation():
    for _ in range(20):
        is_cancelled = False
        late = []

        def called(event):
            if is_cancelled:
                late.append(event)

        subscription = dn.on(NAME, called)
        for _ in range(5):
            dn.post(NAME)
        subscription.cancel()
        is_cancelled = True
        dn.post(NAME)
        subscription.cancel()
        assert late == []


def test_cancelling_waits_for_the_callback():
    begun, ended = threading.Event(), threading.Event()

    def called(event):
        begun.set()
        time.sleep(0.1)
        ended.set()

    with dn.on(NAME, called):
        dn.post(NAME)
        assert begun.wait(LIMIT)
    assert ended.is_set()


def test_a_callback_cancels_itself():
    seen = []
    done = threading.Event()

    def called(event):
        seen.append(event)
        subscription.cancel()
        done.set()

    subscription = dn.on(NAME, called)
    for _ in range(3):
        dn.post(NAME)
    assert done.wait(LIMIT)
    dn.post(NAME)
    assert len(seen) == 1


def test_a_callback_that_fails_is_reported_and_called_again():
    seen, reports = [], []
    threading.excepthook = reports.append

    def called(event):
        seen.append(event)
        raise KeyError("no such thing")

    with dn.on(NAME, called):
        dn.post(NAME)
        eventually_here(lambda: len(reports) == 1)
        dn.post(NAME)
        eventually_here(lambda: len(reports) == 2)
    assert reports[0].exc_type is KeyError and len(seen) == 2


async def test_a_callback_that_fails_is_reported_to_its_loop():
    reports = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: reports.append(context))
    with dn.on(NAME, lambda event: 1 / 0):
        dn.post(NAME)
        await eventually(lambda: reports)
    assert isinstance(reports[0]["exception"], ZeroDivisionError)


def test_a_signal_handler_may_post():
    seen = []
    signal.signal(signal.SIGUSR1, lambda *_: dn.post(NAME))
    with dn.on(NAME, seen.append):
        os.kill(os.getpid(), signal.SIGUSR1)
        eventually_here(lambda: seen)


def test_all_posts_can_be_flushed(bus):
    dn.post(NAME)
    dn.flush(LIMIT)
    if bus.kind != "none":
        bus.order("pause")
        dn.post(NAME)
        with pytest.raises(TimeoutError):
            dn.flush(0.01)
        bus.order("resume")


def test_the_version_is_that_of_the_library():
    assert dn.__version__.count(".") == 2


def test_states_are_shared():
    # Programs of other tests, without a bus in the same table, may hold the usual name.
    level = dn.State("com.example.shared-level")
    assert level.value == 0
    level.value = 2**64 - 1
    program = """
import darwinnotify as dn, sys
level = dn.State("com.example.shared-level")
print(level.value)
level.value = 7
"""
    assert run(program) == (0, f"{2**64 - 1}\n", "")
    assert dn.State("com.example.shared-level").value == 7


def test_states_are_numbers_of_64_bits():
    level = dn.State("com.example.level")
    for number in (-1, 2**64):
        with pytest.raises(dn.InvalidError):
            level.value = number
    with pytest.raises(TypeError):
        level.value = "3"


def test_a_state_outlives_its_object():
    dn.State("com.example.level").value = 3
    assert dn.State("com.example.level").value == 3


def test_a_state_can_be_used_in_a_child():
    level = dn.State("com.example.level")
    level.value = 3

    def use():
        assert level.value == 3
        level.value = 4

    assert in_child(use) == 0
    assert level.value == 4
