"""Runs each test in a forked child, on a private bus of each kind: dbus-daemon, dbus-broker, none.

DN_TEST_BUS names the program that starts a bus, CShims/build/soak/soak-bus; Scripts/check-python
builds it.
"""
import asyncio
import faulthandler
import inspect
import os
import select
import shutil
import signal
import subprocess
import sys
import time
import traceback

import pytest

LIMIT = 60  # seconds for a test: a loaded machine may take long


class Bus:
    """A private bus, which ends with its standard input."""

    def __init__(self, kind):
        self.kind = kind
        self._program = subprocess.Popen(
            [os.environ["DN_TEST_BUS"], kind], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True)
        self.address = self._program.stdout.readline().strip()
        self.directory = self._program.stdout.readline().strip()

    def environment(self):
        """Returns the variables of a process that uses the bus."""
        changes = {"XDG_RUNTIME_DIR": self.directory, "DBUS_SESSION_BUS_ADDRESS": self.address,
                   "XDG_DATA_HOME": os.path.join(self.directory, "data"),
                   # Python 3.12 and later warn of every fork beside threads.
                   "PYTHONWARNINGS": "ignore:This process:DeprecationWarning"}
        if self.kind == "none":
            changes.update(DBUS_SESSION_BUS_ADDRESS="disabled:", DARWIN_NOTIFY_BUS="none")
        return changes

    def order(self, text):
        """Has the bus do "pause" or "resume"."""
        self._program.stdin.write(text + "\n")
        self._program.stdin.flush()
        assert self._program.stdout.readline() == "done\n"

    def stop(self):
        self._program.stdin.close()
        self._program.stdout.close()
        self._program.wait(LIMIT)


def pytest_generate_tests(metafunc):
    if "bus" in metafunc.fixturenames:
        missing = [] if shutil.which("dbus-broker") else [
            pytest.mark.skip("dbus-broker is not installed")]
        metafunc.parametrize("bus", ["daemon", pytest.param("broker", marks=missing), "none"],
                             indirect=True)


@pytest.fixture
def bus(request):
    bus = Bus(request.param)
    yield bus
    bus.stop()


@pytest.fixture(autouse=True)
def _on_the_bus(bus):
    """All tests run on a bus."""


def _run(function, arguments, bus, pipe):
    """Runs the body of a test in the child, and writes what went wrong."""
    failure = ""
    try:
        # A shell has what it runs in the background ignore it.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.environ.pop("DARWIN_NOTIFY_BUS", None)
        os.environ.update(bus.environment())
        faulthandler.dump_traceback_later(LIMIT - 5)
        if inspect.iscoroutinefunction(function):
            asyncio.run(function(**arguments))
        else:
            function(**arguments)
    except pytest.skip.Exception as reason:
        failure = f"skip {reason}"
    except BaseException:
        failure = traceback.format_exc()
    os.write(pipe, failure.encode()[-60000:])
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def _read(pipe, child):
    """Returns what the child wrote until it ended; ends it if it takes too long."""
    parts = []
    deadline = time.monotonic() + LIMIT
    while select.select([pipe], [], [], max(0, deadline - time.monotonic()))[0]:
        part = os.read(pipe, 65536)
        if not part:
            break
        parts.append(part)
    else:
        os.kill(child, signal.SIGKILL)
        parts.append(b"it takes too long")
    os.close(pipe)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status) and not parts:
        parts.append(b"ended by signal %d" % os.WTERMSIG(status))
    return b"".join(parts).decode(errors="replace")


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    names = pyfuncitem._fixtureinfo.argnames
    arguments = {name: pyfuncitem.funcargs[name] for name in names}
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        _run(pyfuncitem.obj, arguments, pyfuncitem.funcargs["bus"], writer)
    os.close(writer)
    failure = _read(reader, child)
    if failure.startswith("skip "):
        pytest.skip(failure[5:])
    if failure:
        pytest.fail(failure, pytrace=False)
    return True
