"""Calls and services."""
import asyncio
import errno
import os
import pickle
import time

import darwinnotify as dn
import pytest
from support import LIMIT, eventually, start

PLAYER = "org.example.Player"


@pytest.fixture(autouse=True)
def _calls_need_a_bus(bus, request):
    if bus.kind == "none" and "without_a_bus" not in request.node.name:
        pytest.skip("calls need a bus")


async def search(text, limit=10):
    return [{"title": f"Kind of {text}", "number": limit}]


async def test_a_service_answers():
    async with dn.Service(PLAYER, {"Search": search}):
        assert await dn.call(PLAYER, "Search", text="Blue", limit=3) == [
            {"title": "Kind of Blue", "number": 3}]
        assert await dn.call(PLAYER, "Search", {"text": "Blue"}, timeout=None) == [
            {"title": "Kind of Blue", "number": 10}]


async def test_a_handler_may_be_a_function_and_answer_with_nothing():
    async with dn.Service(PLAYER, {"Stop": lambda: None, "org.example.Other.Level": lambda: 3}):
        assert await dn.call(PLAYER, "Stop") == {}
        assert await dn.call(PLAYER, "org.example.Other.Level") == 3


async def test_many_calls_are_in_progress_at_once():
    async def echo(number):
        await asyncio.sleep(0.001 * (number % 7))
        return number

    async with dn.Service(PLAYER, {"Echo": echo}):
        calls = [dn.call(PLAYER, "Echo", number=number, timeout=LIMIT) for number in range(200)]
        assert await asyncio.gather(*calls) == list(range(200))


async def test_a_service_answers_another_process():
    program = """
import asyncio, darwinnotify as dn
print(asyncio.run(dn.call("org.example.Player", "Search", text="Blue"))[0]["title"])
"""
    async with dn.Service(PLAYER, {"Search": search}):
        process = start(program)
        output, errors = await asyncio.to_thread(process.communicate, timeout=LIMIT)
    assert (process.returncode, output, errors) == (0, "Kind of Blue\n", "")


async def test_calls_fail_without_a_bus(bus):
    if bus.kind != "none":
        pytest.skip("there is a bus")
    with pytest.raises(OSError) as error:
        await dn.call(PLAYER, "Search")
    assert error.value.errno == errno.ENOTCONN
    with pytest.raises(OSError) as error:
        async with dn.Service(PLAYER, {"Search": search}):
            pass
    assert error.value.errno == errno.ENOTCONN


async def test_a_service_that_is_not_there_is_an_error():
    with pytest.raises(OSError) as error:
        await dn.call("org.example.Nobody", "Search")
    assert error.value.errno == errno.ENXIO


async def test_a_call_times_out_and_its_handler_is_cancelled():
    ended = []

    async def wait():
        try:
            await asyncio.sleep(LIMIT)
        except asyncio.CancelledError:
            ended.append(True)
            raise

    async with dn.Service(PLAYER, {"Wait": wait}):
        with pytest.raises(TimeoutError) as error:
            await dn.call(PLAYER, "Wait", timeout=0.05)
        assert error.value.errno == errno.ETIMEDOUT
        await eventually(lambda: ended)


async def test_a_task_that_is_cancelled_cancels_the_handler():
    begun, ended = asyncio.Event(), []

    async def wait():
        begun.set()
        try:
            await asyncio.sleep(LIMIT)
        except asyncio.CancelledError:
            ended.append(True)
            raise

    async with dn.Service(PLAYER, {"Wait": wait}):
        task = asyncio.ensure_future(dn.call(PLAYER, "Wait", timeout=LIMIT))
        await asyncio.wait_for(begun.wait(), LIMIT)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await eventually(lambda: ended)


async def test_an_error_of_a_handler_reaches_the_caller():
    reports = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: reports.append(context))

    async def refuse():
        raise dn.RemoteError("org.example.Error.Busy", "the deck is playing", {"track": 3})

    async def fail():
        raise KeyError("no such track")

    async with dn.Service(PLAYER, {"Refuse": refuse, "Fail": fail, "Search": search}):
        with pytest.raises(dn.RemoteError) as error:
            await dn.call(PLAYER, "Refuse")
        assert (error.value.name, error.value.message, error.value.errno) == (
            "org.example.Error.Busy", "the deck is playing", errno.EREMOTEIO)
        assert error.value.details == {"track": 3}
        with pytest.raises(dn.RemoteError) as error:
            await dn.call(PLAYER, "Fail")
        assert error.value.name == "org.darwinnotify.Error.Failed"
        with pytest.raises(dn.RemoteError) as error:
            await dn.call(PLAYER, "Search", words="Blue")
        assert error.value.name == "org.freedesktop.DBus.Error.InvalidArgs"
    assert [type(report["exception"]) for report in reports] == [KeyError]


async def test_an_answer_that_cannot_be_sent_is_an_error():
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: None)
    async with dn.Service(PLAYER, {"Make": lambda: object()}):
        with pytest.raises(dn.RemoteError):
            await dn.call(PLAYER, "Make")


async def test_a_service_chooses_its_callers():
    seen = []

    def allow(caller, method):
        seen.append((caller, method))
        return method == "Look"

    async with dn.Service(PLAYER, {"Look": lambda: 1, "Search": search}, allow=allow):
        assert await dn.call(PLAYER, "Look") == 1
        with pytest.raises(OSError) as error:
            await dn.call(PLAYER, "Search", text="Blue")
    assert error.value.errno == errno.EACCES
    assert seen[0][0].process in (os.getpid(), None) and seen[0][1] == "Look"


async def test_a_name_has_one_owner():
    async with dn.Service(PLAYER, {}):
        with pytest.raises(FileExistsError):
            async with dn.Service(PLAYER, {}):
                pass


async def test_a_name_is_taken_over_by_the_service_that_waits_for_it():
    program = """
import asyncio, darwinnotify as dn

async def main():
    async with dn.Service("org.example.Player", {"Who": lambda: "child"}, queue=True) as service:
        print("waiting", flush=True)
        await service.serve_forever()

asyncio.run(main())
"""
    async with dn.Service(PLAYER, {"Who": lambda: "parent"}):
        process = start(program)
        assert await asyncio.to_thread(process.stdout.readline) == "waiting\n"
        assert await dn.call(PLAYER, "Who", timeout=LIMIT) == "parent"
    deadline = time.monotonic() + LIMIT
    while True:  # until the bus has handed over the name
        try:
            assert await dn.call(PLAYER, "Who", timeout=LIMIT) == "child"
            break
        except OSError:
            assert time.monotonic() < deadline
            await asyncio.sleep(0.01)
    process.terminate()
    process.communicate()


async def test_a_service_ends_with_its_block():
    begun, ended = asyncio.Event(), []

    async def wait():
        begun.set()
        try:
            await asyncio.sleep(LIMIT)
        finally:
            ended.append(True)

    async with dn.Service(PLAYER, {"Wait": wait}):
        task = asyncio.ensure_future(dn.call(PLAYER, "Wait", timeout=LIMIT))
        await asyncio.wait_for(begun.wait(), LIMIT)
    assert ended
    with pytest.raises(OSError):
        await task
    with pytest.raises(OSError) as error:
        await dn.call(PLAYER, "Wait", timeout=LIMIT)
    assert error.value.errno == errno.ENXIO


@pytest.mark.parametrize("service, method", [("a\0b", "Search"), (PLAYER, "a\0b"), ("", "Search"),
                                             (PLAYER, "not a member"), ("player", "Search")])
async def test_malformed_names_are_refused(service, method):
    with pytest.raises(dn.InvalidError):
        await dn.call(service, method)


def test_errors_can_be_copied():
    error = pickle.loads(pickle.dumps(dn.RemoteError("org.example.Error", "why", [1])))
    assert (error.name, error.message, error.details) == ("org.example.Error", "why", [1])
