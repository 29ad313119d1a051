"""Starts processes that end with this one, and reads what the kernel knows about them."""

import os
import select
import subprocess
import time
from contextlib import suppress
from pathlib import Path

CLOCK_OF_PROCESS = 2  # scheduler time, of all threads, including threads that have ended


class Failure(Exception):
    """A run gave no figure; the text says why."""


class Child:
    """A program that ends when its standard input does, and is controlled line by line."""

    running = set()

    def __init__(self, argv, env=None, log=None, has_session=True):
        self.argv = [str(word) for word in argv]
        self.buffer = b""
        self.errors = open(log, "w+b") if log else subprocess.DEVNULL
        self.process = subprocess.Popen(
            self.argv, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors,
            start_new_session=has_session)
        self.pid = self.process.pid
        Child.running.add(self)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def read_line(self, timeout=30.0):
        """Returns the next line of its output."""
        deadline = time.monotonic() + timeout
        while b"\n" not in self.buffer:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.process.stdout], [], [], left)[0]:
                raise Failure(f"gave up after {timeout:.0f} s")
            data = os.read(self.process.stdout.fileno(), 65536)
            if not data:
                raise Failure(self.why_it_ended())
            self.buffer += data
        line, _, self.buffer = self.buffer.partition(b"\n")
        return line.decode()

    def await_ready(self, timeout=30.0):
        while self.read_line(timeout) != "ready":
            pass

    def run(self, timeout=120.0):
        """Starts what it is ready for, and returns the lines it prints."""
        self.process.stdin.write(b"go\n")
        self.process.stdin.flush()
        lines = []
        deadline = time.monotonic() + timeout
        while not lines or lines[-1] != "done":
            lines.append(self.read_line(max(0.1, deadline - time.monotonic())))
        return lines[:-1]

    def read_to_end(self, timeout):
        """Ends its input, and returns all lines that it prints; fails if it does."""
        try:
            text, _ = self.process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired as late:
            raise Failure(f"gave up after {timeout:.0f} s") from late
        if self.process.returncode != 0:
            raise Failure(self.why_it_ended())
        return text.decode().splitlines()

    def has_ended(self):
        return self.process.poll() is not None

    def why_it_ended(self):
        status = self.process.wait(60)
        last = ""
        if self.errors is not subprocess.DEVNULL:
            self.errors.seek(0)
            text = self.errors.read().decode(errors="replace").strip()
            last = text.splitlines()[-1][:160] if text else ""
        how = f"ended by signal {-status}" if status < 0 else f"ended with status {status}"
        return f"{how}: {last}" if last else how

    def stop(self):
        if self not in Child.running:
            return
        Child.running.discard(self)
        self.process.stdin.close()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        if self.errors is not subprocess.DEVNULL:
            self.errors.close()
            os.unlink(self.errors.name)

    @classmethod
    def stop_all(cls):
        for child in list(cls.running):
            child.stop()


def read_cpu_ns(pid):
    """The processor time of a process so far, in ns."""
    return time.clock_gettime_ns((~pid << 3) | CLOCK_OF_PROCESS)


def read_fields(path):
    """The numbers of a file whose lines look like "key: 123" or "key: 123 kB", these in bytes."""
    fields = {}
    for line in Path(path).read_text().splitlines():
        key, _, words = line.partition(":")
        number, *unit = words.split() or [""]
        if number.isdigit():
            fields[key] = int(number) * (1024 if unit == ["kB"] else 1)
    return fields


def read_memory(pid):
    """Bytes of a process: with its share of what it shares; what it has allocated for itself."""
    fields = read_fields(f"/proc/{pid}/smaps_rollup")
    return fields["Pss"], fields["Anonymous"]


def count_switches(pid):
    """How often each thread of a process has begun to wait."""
    counts = {}
    for status in Path(f"/proc/{pid}/task").glob("*/status"):
        with suppress(OSError):  # a thread that has ended
            counts[status.parent.name] = read_fields(status)["voluntary_ctxt_switches"]
    return counts
