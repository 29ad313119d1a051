"""Starts the bus and the workers of a soak, and reads what the kernel knows about them."""

import errno
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

# Under load the kernel may take long to end a process that is killed: for its inotify instance it
# waits for a worker of its own, for its mapping of the table for a lock that all have in common.
END_TIMEOUT_S = 120
DISK_BYTES = 256 << 20  # messages take 40 MB, and the log as much while a reader is stopped


class Failure(Exception):
    """Something happened that must not; the text says what."""


def mount_memory(folder, n_bytes):
    """Returns whether it could."""
    mount = ["mount", "-t", "tmpfs", "-o", f"size={n_bytes},mode=0700", "tmpfs", folder]
    return subprocess.run(mount, stderr=subprocess.DEVNULL).returncode == 0


class Ground:
    """A private bus of one kind, or none, with the folder and the environment of its clients. On
    "tables" it is a dbus-daemon with two addresses, each with a table of its own."""

    def __init__(self, kind, programs, history=None):
        self.kind = kind
        self.is_split = kind == "tables"
        self.folder = Path(tempfile.mkdtemp(prefix="dn-soak."))
        self.process = subprocess.Popen(
            [programs / "soak-bus", "daemon" if self.is_split else kind], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        address, self.runtime = (self.process.stdout.readline().strip() for _ in range(2))
        self.env = {key: value for key, value in os.environ.items()
                    if not key.startswith(("DBUS_", "DARWIN_NOTIFY"))}
        # With an arena for each of many threads, each keeps as much as it once had at a time: that
        # grows for long, and looks like a leak.
        self.env.update(HOME=str(self.folder), XDG_RUNTIME_DIR=self.runtime,
                        DBUS_SESSION_BUS_ADDRESS=address, MALLOC_ARENA_MAX="1")
        if kind == "none":
            self.env["DARWIN_NOTIFY_BUS"] = "none"
        self.history = None
        if history:
            self.history = open(history, "ab", buffering=0)
            self.env["SOAK_HISTORY"] = str(history)
        self.link = self.folder / "link" / "bus"
        if self.is_split:
            self.link_socket()
        self.data = self.folder / "data"
        self.data.mkdir(mode=0o700)
        self.env["XDG_DATA_HOME"] = str(self.data)
        # In a mount namespace of our own, as Scripts/soak makes one where it can. The workers must
        # not meet in a table that others have made where they would look next.
        self.has_disk = mount_memory(self.data, DISK_BYTES)
        for place in ("/dev/shm", "/run/user"):
            if self.has_disk and os.path.isdir(place):
                mount_memory(place, DISK_BYTES)

    def fill_disk(self):
        """Takes what is left of the disk of messages."""
        with open(self.data / "ballast", "wb", buffering=0) as file:
            try:
                while file.write(bytes(1 << 20)):
                    pass
                while file.write(b"0"):
                    pass
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise

    def free_disk(self):
        (self.data / "ballast").unlink()

    def env_of(self, slot):
        """Returns the environment of a worker: on "tables", every other one has another socket."""
        if not self.is_split or slot % 2 == 0:
            return self.env
        return self.env | {"DBUS_SESSION_BUS_ADDRESS": f"unix:path={self.link}"}

    def link_socket(self):
        """A hard link to the socket of the bus is an address of its own, with its own table."""
        self.link.parent.mkdir(mode=0o700, exist_ok=True)
        self.link.unlink(missing_ok=True)
        self.link.hardlink_to(self.env["DBUS_SESSION_BUS_ADDRESS"].removeprefix("unix:path="))

    def note(self, what, **fields):
        """Adds a line to the history, if there is one, as the workers do."""
        if self.history:
            line = {"ns": time.monotonic_ns(), "pid": os.getpid(), "what": what, **fields}
            self.history.write(json.dumps(line, separators=(",", ":")).encode() + b"\n")

    def find_tables(self):
        """Returns the paths of the tables; between two there may be none."""
        return [table for folder in (self.runtime, self.link.parent)
                for table in Path(folder, "darwin-notify").glob("table*")]

    def order(self, what):
        """Lets the bus be killed, started, paused or resumed."""
        if self.kind == "none":
            return
        self.process.stdin.write(what + "\n")
        self.process.stdin.flush()
        if self.process.stdout.readline() != "done\n":
            raise Failure(f"the bus cannot {what}")
        if self.is_split and what == "start":
            self.link_socket()

    def count_files(self):
        folders = (self.runtime, self.link.parent, self.data)
        return sum(len(files) for folder in folders for _, _, files in os.walk(folder))

    def end(self):
        self.process.stdin.close()
        self.process.wait(END_TIMEOUT_S)
        if self.has_disk:
            subprocess.run(["umount", self.data], check=True)
        shutil.rmtree(self.folder, ignore_errors=True)


class Worker:
    """One role, played by one process after another."""

    def __init__(self, slot, command, role, kind, mortal=True):
        self.slot, self.command, self.role = slot, command, role
        self.kind = kind  # by which it is judged: post, count, notice, pass, listen, call, serve
        self.mortal = mortal
        self.process = self.log = self.ground = None
        self.n_started = 0

    def __str__(self):
        return f"{self.command.name} {' '.join(self.role)}"

    def start(self, ground, board):
        self.ground = ground
        board.forget_hearing(self.slot)
        self.log = ground.folder / f"worker{self.slot}.log"
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [self.command, board.path, str(self.slot), *self.role],
                env=ground.env_of(self.slot), stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        ground.note("starts", worker=self.slot, role=self.role, child=self.process.pid)
        self.n_started += 1

    def kill(self):
        self.ground.note("kills", child=self.process.pid)
        self.process.kill()
        self.process.wait(END_TIMEOUT_S)

    def stop(self):
        self.process.send_signal(signal.SIGSTOP)

    def resume(self):
        self.process.send_signal(signal.SIGCONT)

    def check_alive(self):
        if self.process.poll() is not None:
            raise Failure(f"{self} has ended: {self.process.returncode}")

    def is_in(self, tables):
        """Returns whether the process has mapped one of the files."""
        maps = Path(f"/proc/{self.process.pid}/maps").read_text()
        return any(f" {table.stat().st_ino} " in maps for table in tables)

    def read_log(self):
        return self.log.read_text(errors="replace") if self.log and self.log.exists() else ""

    def measure(self):
        """Returns kB of its own memory, descriptors, threads. Swift's are those of a pool; a
        service in Swift handles its requests at the same time, each on a thread of that pool."""
        folder = Path(f"/proc/{self.process.pid}")
        fields = dict(line.split(":", 1) for line in (folder / "status").read_text().splitlines())
        memory, threads = "memory", "threads"
        if self.command.name == "soak-peer":
            memory = "pooled memory"
            threads = "handling threads" if self.kind == "serve" else "pooled threads"
        return {memory: int(fields["RssAnon"].split()[0]), threads: int(fields["Threads"]),
                "descriptors": len(os.listdir(folder / "fd"))}
