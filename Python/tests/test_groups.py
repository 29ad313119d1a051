"""Messages of a group, through the views of its store."""
import asyncio
import datetime
import os
import re
import shutil
import sqlite3
import textwrap

import darwinnotify as dn
import pytest
from support import LIMIT, in_child, run, take

GROUP = "org.example.lights"
ROOT = os.path.join(os.path.dirname(__file__), "..", "..")


def messages():
    return dn.Group(GROUP).messages


def test_a_message_is_kept():
    assert messages().latest("light") is None
    assert messages().pass_("light", {"level": [1, 2.5, None]}) == 1
    message = messages().latest("light")
    assert (message.name, message.number, message.value, message.error) == (
        "light", 1, {"level": [1, 2.5, None]}, None)
    assert message.process == os.getpid() and message.time > 1e9


def test_bytes_stay_bytes():
    messages().pass_("light", b"\0\xff")
    assert messages().latest("light").value == b"\0\xff"


def test_a_name_keeps_as_many_messages_as_was_asked():
    group = messages()
    for number in range(1, 6):
        assert group.pass_("light", number, keep=3) == number
    assert [message.value for message in group.history("light")] == [3, 4, 5]
    assert [message.number for message in group.history("light", since=4)] == [5]
    assert group.history("light", since=5) == group.history("dark") == []


def test_messages_can_be_cleared():
    group = messages()
    group.pass_("light", 1)
    group.pass_("level", 2)
    assert group.names() == ["level", "light"]
    group.clear("light")
    assert group.names() == ["level"] and group.latest("light") is None
    assert group.pass_("light", 1) == 3


async def test_an_observer_receives_the_newest_then_each_new_message():
    group = messages()
    group.pass_("light", "old")
    async with group.observe("light") as stream:
        first, = await take(stream, 1)
        group.ping("light")
        group.pass_("light", "new")
        second, = await take(stream, 1)
    assert (first.value, second.value) == ("old", "new")


async def test_an_observer_receives_what_is_kept_since_a_number():
    group = messages()
    for number in range(1, 1001):
        group.pass_("light", number, keep=2000)
    async with group.observe("light", since=400) as stream:
        received = await take(stream, 600)
        group.pass_("light", 1001)
        received += await take(stream, 1)
    assert [message.value for message in received] == list(range(401, 1002))


async def test_an_observer_receives_the_messages_of_another_process():
    async with messages().observe("light") as stream:
        program = f"""
import darwinnotify as dn
dn.Group("{GROUP}").messages.pass_("light", True)
"""
        assert run(program) == (0, "", "")
        message, = await take(stream, 1)
    assert message.value is True and message.process != os.getpid()


def test_a_child_passes_messages():
    group = messages()
    assert group.pass_("light", 1) == 1
    assert in_child(lambda: group.pass_("light", 2)) == 0
    assert group.latest("light").value == 2


def test_processes_pass_at_the_same_time():
    program = f"""
import darwinnotify as dn
for index in range(200):
    dn.Group("{GROUP}").messages.pass_("light", index, keep=1000)
"""
    async def pass_all():
        return await asyncio.gather(*[asyncio.to_thread(run, program) for _ in range(3)])

    assert asyncio.run(pass_all()) == [(0, "", "")] * 3
    assert [message.number for message in messages().history("light")] == list(range(1, 601))


async def test_programs_in_swift_share_the_messages():
    swift = os.environ.get("DN_TEST_SWIFT")
    if swift is None:
        pytest.skip("the programs in Swift are not built")
    name = "org.example.light.state"
    group = messages()
    group.pass_(name, True)

    async def start(program, *arguments):
        return await asyncio.create_subprocess_exec(
            os.path.join(swift, program), *arguments, stdout=asyncio.subprocess.PIPE)

    async def shows(label, text):
        while not (await asyncio.wait_for(label.stdout.readline(), LIMIT)).startswith(text):
            pass

    label = await start("light-label")
    await shows(label, b"light: on")
    async with group.observe(name) as stream:
        await take(stream, 1)
        await (await start("light-switch", "off")).wait()
        message, = await take(stream, 1)
        assert (message.value, message.sender) == (False, "light-switch")
        await shows(label, b"light: off")
        group.pass_(name, True)
        await shows(label, b"light: on")
    label.kill()
    await label.wait()


@pytest.mark.parametrize("name, value, keep", [
    ("", 1, None), ("x" * 256, 1, None), ("a\0b", 1, None),
    pytest.param("light", "x" * 1048576, None, id="large"),
    ("light", 1, 0)])
def test_what_the_store_refuses_is_an_error(name, value, keep):
    with pytest.raises(dn.InvalidError):
        messages().pass_(name, value, keep=keep)
    assert messages().pass_("light", 1) == 1


def test_a_value_that_cannot_be_read_is_a_message_with_an_error():
    group = messages()
    group.pass_("light", 1)
    path = os.path.join(dn.Group(GROUP).directory, "wormhole", "store.sqlite")
    program = f"""
import sqlite3
database = sqlite3.connect({path!r}, isolation_level=None)
database.execute("INSERT INTO pass(name, value) VALUES('light', 'no JSON')")
"""
    assert run(program) == (0, "", "")
    message = group.latest("light")
    assert message.value is None and "JSONDecodeError" in message.error


def test_a_property_list_is_the_value_in_it():
    value = {"at": datetime.datetime(2026, 11, 29, 8, 30), "bytes": b"\0"}
    group = messages()
    group.pass_("light", 1)
    path = os.path.join(dn.Group(GROUP).directory, "wormhole", "store.sqlite")
    program = f"""
import datetime, plistlib, sqlite3
database = sqlite3.connect({path!r}, isolation_level=None)
stored = plistlib.dumps([{value!r}], fmt=plistlib.FMT_BINARY)
database.execute("INSERT INTO pass(name, value, codec) VALUES('light', ?, 'plist')", (stored,))
"""
    assert run(program) == (0, "", "")
    assert group.latest("light").value == value


def test_a_store_that_was_removed_begins_anew():
    group = messages()
    assert [group.pass_("light", number) for number in range(3)] == [1, 2, 3]
    shutil.rmtree(dn.Group(GROUP).directory)
    assert group.pass_("light", 4) == 1


def test_a_foreign_file_is_refused():
    directory = os.path.join(dn.Group(GROUP).directory, "wormhole")
    os.makedirs(directory, mode=0o700)
    sqlite3.connect(os.path.join(directory, "store.sqlite")).execute("CREATE TABLE mine(a)")
    with pytest.raises(OSError):
        messages().latest("light")


def test_a_directory_that_others_can_write_is_refused():
    os.makedirs(dn.Group(GROUP).directory)
    os.chmod(dn.Group(GROUP).directory, 0o777)
    with pytest.raises(PermissionError):
        messages().latest("light")


def test_names_of_groups_are_escaped():
    assert os.path.basename(dn.Group("../my group").directory) == "%2E.%2Fmy%20group"
    assert len(os.path.basename(dn.Group("x" * 300).directory)) == 174
    for name in ("", "a\0b"):
        with pytest.raises(dn.InvalidError):
            dn.Group(name)


def test_the_schema_is_that_of_the_library():
    with open(os.path.join(ROOT, "Sources/Wormhole/Store/StoreSchema.swift")) as file:
        swift = file.read()
    order = re.search(r"static let statements = \[(.*?)\]", swift).group(1).split(", ")
    texts = dict(re.findall(r'private static let (\w+) = """\n(.*?)\n    """', swift, re.S))
    with open(os.path.join(ROOT, "Python/darwinnotify/store.sql")) as file:
        assert file.read() == ";\n\n".join(textwrap.dedent(texts[name]) for name in order) + "\n"
