"""Starts the brokers that posts go through, each private and gone with this process."""

import os
import shutil
import signal
import socket
import tempfile
import time
from pathlib import Path

from peers import NONE
from processes import Child, Failure

# On a disk, like a user's data; the name is short enough for a socket below it.
DISK = "/var/tmp"

KINDS = {
    "daemon": "dbus-daemon",
    "broker": "dbus-broker",
    "gdnc": "gdnc",
    "mosquitto": "mosquitto",
    "redis": "redis-server",
    "socket": "forwarder",
}


class Bus:
    """A running broker, or none: its process, and the environment of its clients."""

    def __init__(self, kind, folder, programs):
        self.kind = kind
        self.folder = Path(folder)
        self.folder.mkdir(mode=0o700)
        self.bench_bus = programs / "bench-bus"
        self.forwarder = programs / "forwarder"
        self.env = {key: value for key, value in os.environ.items()
                    if not key.startswith(("DBUS_", "DARWIN_NOTIFY", "DN_"))}
        # What a peer writes for itself (GNUstep: its settings) stays here.
        self.env.update({key: str(self.folder)
                         for key in ("HOME", "TMPDIR", "TMP", "TEMP", "XDG_RUNTIME_DIR")})
        self.disk = self.env["XDG_DATA_HOME"] = tempfile.mkdtemp(prefix="dn-bench.", dir=DISK)
        self.child = self.pid = None
        try:
            getattr(self, f"_start_{kind}")()
        except BaseException:
            self.stop()
            raise

    def stop(self):
        if self.child:
            self.child.stop()
        for folder in (self.folder, self.disk):
            shutil.rmtree(folder, ignore_errors=True)

    def pause(self):
        os.kill(self.pid, signal.SIGSTOP)

    def resume(self):
        os.kill(self.pid, signal.SIGCONT)

    def is_alive(self):
        return not self.child or Path(f"/proc/{self.pid}/exe").exists()

    def _start(self, *arguments, env=None):
        self.child = Child([self.bench_bus, *arguments], env=env or self.env,
                           log=self.folder / "log")
        address, directory, pid = (self.child.read_line() for _ in range(3))
        self.pid = int(pid)
        return address, directory

    def _start_dbus(self, kind):
        address, directory = self._start(kind)
        self.env.update(DBUS_SESSION_BUS_ADDRESS=address, XDG_RUNTIME_DIR=directory)

    def _start_daemon(self):
        self._start_dbus("daemon")

    def _start_broker(self):
        self._start_dbus("broker")

    def _start_none(self):
        self.env["DARWIN_NOTIFY_BUS"] = NONE

    def _start_gdnc(self):
        self._start("run", "gdnc", "--no-fork")
        self._await(lambda: any(self.folder.glob("NSMessagePort/names/*")))

    def _start_mosquitto(self):
        port = free_port()
        configuration = self.folder / "mosquitto.conf"
        configuration.write_text(
            f"listener {port} 127.0.0.1\nallow_anonymous true\nset_tcp_nodelay true\n"
            "persistence false\nlog_type error\n")
        env = dict(self.env, PATH=self.env["PATH"] + ":/usr/sbin")
        self._start("run", "mosquitto", "-c", configuration, env=env)
        self.env["BENCH_PORT"] = str(port)
        self._await(lambda: answers(socket.AF_INET, ("127.0.0.1", port)))

    def _start_redis(self):
        path = str(self.folder / "redis")
        self._start("run", "redis-server", "--port", "0", "--unixsocket", path, "--save", "",
                    "--dir", self.folder)
        self.env["BENCH_ADDRESS"] = path
        self._await(lambda: answers(socket.AF_UNIX, path))

    def _start_socket(self):
        path = str(self.folder / "forwarder")
        self._start("run", self.forwarder, path)
        self.env["BENCH_ADDRESS"] = path
        self._await(lambda: os.path.exists(path))

    def _await(self, is_there):
        deadline = time.monotonic() + 60
        while not is_there():
            if time.monotonic() > deadline or not self.is_alive():
                raise Failure(f"{KINDS[self.kind]} does not start")
            time.sleep(0.01)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def answers(family, address):
    with socket.socket(family) as probe:
        return probe.connect_ex(address) == 0


def is_installed(kind, programs):
    name = KINDS.get(kind)
    return not name or bool(shutil.which(name) or shutil.which(name, path="/usr/sbin")
                or (programs / name).exists())
