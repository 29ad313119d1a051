"""What the contenders in Python have in common. The commands are those of bench.h."""

import mmap
import os
import struct
import sys
import threading
import time

SLOT = struct.Struct("<QQQ40x")


def map_board(path):
    with open(path, "r+b") as file:
        return mmap.mmap(file.fileno(), 0)


class Slot:
    """Where a receiver notes what it has heard."""

    def __init__(self, path, slot, n_observers=1):
        self.board, self.offset = map_board(path), int(slot) * SLOT.size
        self.n_observers, self.n_calls = int(n_observers), 0

    def note(self):
        self.n_calls += 1
        if self.n_calls % self.n_observers == 0:
            SLOT.pack_into(self.board, self.offset, self.n_calls, time.monotonic_ns(), self.n_calls)


def await_end():
    while os.read(0, 4096):
        pass


def end_with_input():
    """Ends the process with its standard input, from a thread of its own."""
    def wait():
        await_end()
        os._exit(0)
    threading.Thread(target=wait, daemon=True).start()


def say(text):
    print(text, flush=True)


def begin():
    say("ready")
    os.read(0, 3)


class Timing:
    """One post, until it is noted in all slots."""

    def __init__(self, board, n_slots):
        self.board, self.slots = board, range(int(n_slots))

    def begin(self):
        self.deadline = time.monotonic() + 20
        self.cpu_ns, self.start_ns = time.thread_time_ns(), time.monotonic_ns()

    def returned(self):
        now_ns = time.monotonic_ns()
        self.returned_ns, self.cpu_ns = now_ns - self.start_ns, time.thread_time_ns() - self.cpu_ns

    def is_heard(self, n_posts):
        if time.monotonic() > self.deadline:
            sys.exit("a post was not heard")
        return all(self.read(slot)[0] >= n_posts for slot in self.slots)

    def read(self, slot):
        return SLOT.unpack_from(self.board, slot * SLOT.size)

    def show(self):
        heard_ns = max(self.read(slot)[1] for slot in self.slots) - self.start_ns
        print(heard_ns, self.returned_ns, self.cpu_ns)


def latency(post, path, n_slots, n_each, n_warm_up, rest_us, n_posts):
    timing = Timing(map_board(path), n_slots)
    begin()
    for number in range(int(n_warm_up) + int(n_posts)):
        timing.begin()
        post()
        timing.returned()
        while not timing.is_heard((number + 1) * int(n_each)):
            time.sleep(0.00005)
        if number >= int(n_warm_up):
            timing.show()
        time.sleep(int(rest_us) / 1e6)
    say("done")
    await_end()


def main(receive, open_post):
    """Runs `receive`, `latency` and `first`. receive(name, slot) says "ready" and returns when
    standard input has ended; open_post(name) returns what posts."""
    command, *words = sys.argv[1:]
    if command == "receive":
        path, slot, _, n_observers, prefix = words
        receive(f"{prefix}.n0", Slot(path, slot, n_observers))
    else:
        post = open_post(f"{words.pop()}.n0")
        if command == "latency":
            latency(post, *words)
        else:
            post()
