"""The distributed center: objects, user infos and the values in them."""
from datetime import datetime, timedelta, timezone

import darwinnotify as dn
import pytest
from darwinnotify._values import pack, unpack
from support import eventually_here, run, take

NAME = "org.example.player"

VALUES = {
    "text": "A Love Supreme ♪", "empty": "", "yes": True, "no": False, "zero": 0, "one": 1,
    "least": -(2**63), "most": 2**63 - 1, "above": 2**64 - 1, "real": 0.1, "infinite": float("inf"),
    "data": b"\0\1\xff", "nothing": b"",
    "date": datetime(1965, 2, 1, 12, 30, 15, 123456, tzinfo=timezone.utc),
    "list": [1, "two", [3.5, []], {"four": 4}], "dictionary": {"nested": {"deeper": [True]}, "": 1},
}


def test_values_come_back_as_they_were():
    copied = unpack(pack(VALUES))
    assert copied == VALUES
    assert [type(copied[key]) for key in VALUES] == [type(value) for value in VALUES.values()]


def test_values_that_have_another_form_are_converted():
    elsewhere = datetime(2000, 1, 1, 2, tzinfo=timezone(timedelta(hours=2)))
    copied = unpack(pack({"tuple": (1, 2), "array": bytearray(b"ab"), "date": elsewhere}))
    assert copied == {"tuple": [1, 2], "array": b"ab",
                      "date": datetime(2000, 1, 1, tzinfo=timezone.utc)}


@pytest.mark.parametrize("value", [
    "a\0b", "\ud800", 2**64, -(2**63) - 1, datetime(2000, 1, 1), "\ufdd0",
    pytest.param(bytes(17 * 1024 * 1024), id="large")])
def test_values_that_cannot_be_sent_are_refused(value):
    with pytest.raises(dn.InvalidError):
        dn.distributed.post(NAME, None, {"key": value})


@pytest.mark.parametrize("values", [{"key": None}, {"key": object()}, {3: 1}, [1], "text"])
def test_types_that_cannot_be_sent_are_refused(values):
    with pytest.raises(TypeError):
        dn.distributed.post(NAME, None, values)


def test_a_list_that_contains_itself_is_refused():
    endless = []
    endless.append(endless)
    with pytest.raises(dn.InvalidError):
        pack({"endless": endless})


async def test_a_user_info_arrives():
    async with dn.distributed.observe(NAME) as events:
        dn.distributed.post(NAME, "deck", VALUES)
        event, = await take(events, 1)
    assert event == dn.Event(NAME, 1, 0, False, "deck", VALUES)


async def test_a_user_info_arrives_from_another_process(bus):
    if bus.kind == "none":
        pytest.skip("without a bus they stay in the process")
    async with dn.distributed.observe(NAME) as events:
        assert run(f"""
import darwinnotify as dn
dn.distributed.post("{NAME}", "deck", {{"track": 3}})
""") == (0, "", "")
        event, = await take(events, 1)
    assert (event.object, event.user_info) == ("deck", {"track": 3})


async def test_an_observer_of_an_object_receives_no_other():
    async with dn.distributed.observe(NAME, object="deck") as events:
        dn.distributed.post(NAME, "radio")
        dn.distributed.post(NAME)
        dn.distributed.post(NAME, "deck", {"track": 3})
        event, = await take(events, 1)
    assert event.user_info == {"track": 3}


async def test_posts_arrive_in_their_order():
    async with dn.distributed.observe() as events:
        for index in range(300):
            dn.distributed.post(NAME, user_info={"index": index})
        received = await take(events, 300)
    assert [event.user_info["index"] for event in received] == list(range(300))


def test_a_callback_receives_the_user_info():
    seen = []
    with dn.distributed.on(NAME, seen.append):
        dn.distributed.post(NAME, user_info={"track": 3})
        eventually_here(lambda: seen)
    assert seen[0].user_info == {"track": 3}


def test_an_object_with_a_nul_is_refused():
    with pytest.raises(dn.InvalidError):
        dn.distributed.post(NAME, "a\0b")
    with pytest.raises(dn.InvalidError):
        dn.distributed.on(NAME, print, object="a\0b")
