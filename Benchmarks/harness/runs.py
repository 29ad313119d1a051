"""Makes one contender do one thing on one broker."""

import itertools
import time
from contextlib import ExitStack

from board import Board
from processes import Child, Failure, count_switches, read_cpu_ns

READY_TIMEOUT_S = 60
N_WARM_UP = 3  # posts at rest that do not count, unless a measure wants more
counter = itertools.count()


class Run:
    """One run: a board, a prefix that no other run has, and the processes of it."""

    def __init__(self, peer, bus, folder, n_slots=1, is_one_session=False):
        self.peer, self.bus, self.is_one_session = peer, bus, is_one_session
        number = next(counter)
        self.prefix = f"org.example.bench.run{number}"
        self.log = folder / f"log{number}-"
        self.stack = ExitStack()
        self.board = self.stack.enter_context(Board(folder / f"board{number}", n_slots))
        self.receivers = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stack.close()

    def start(self, *arguments):
        """Starts the contender with a command, and returns when it is ready."""
        child = self.spawn(*arguments)
        child.await_ready(READY_TIMEOUT_S)
        return child

    def spawn(self, *arguments):
        words = [*self.peer.command, *arguments]
        return self.stack.enter_context(
            Child(words, {**self.bus.env, **self.peer.env}, f"{self.log}{next(counter)}",
                  not self.is_one_session))

    def receive(self, n_names=1, n_observers=1, n_processes=1):
        """Starts processes that observe."""
        for slot in range(n_processes):
            self.receivers.append(self.spawn("receive", self.board.path, slot, n_names,
                                             n_observers, self.prefix))
        for child in self.receivers:
            child.await_ready(READY_TIMEOUT_S)
        return self.receivers[0]

    def start_poster(self, n_posts, n_each=1, n_warm_up=N_WARM_UP, rest_us=1000):
        return self.start("latency", self.board.path, len(self.receivers), n_each, n_warm_up,
                          rest_us, n_posts, self.prefix)

    def time_posts(self, *arguments, **more):
        """Posts at rest, see start_poster()."""
        poster = self.start_poster(*arguments, **more)
        try:
            return Posts(poster.run())
        except Failure as failure:
            raise self.find_cause(failure) from failure

    def find_cause(self, failure):
        """If a post was not heard because a receiver has ended, reports that instead."""
        for receiver in self.receivers:
            if receiver.has_ended():
                return Failure(f"the receiver {receiver.why_it_ended()}")
        return failure

    def read_fan_out_cpu_ns(self):
        """The processor time so far of the broker with all receivers."""
        return sum(read_cpu_ns(pid) for pid in
                   [self.bus.pid, *(receiver.pid for receiver in self.receivers)] if pid)

    def flood(self, duration_ms, n_names, pause_us=0, is_each=True):
        """Posts many; returns the result, with the processor time of all."""
        poster = self.start("flood", duration_ms, n_names, pause_us, int(is_each), self.prefix)
        pids = {"poster": poster.pid, **({"bus": self.bus.pid} if self.bus.pid else {}),
                **{"receiver": receiver.pid for receiver in self.receivers}}
        before = {who: read_cpu_ns(pid) for who, pid in pids.items()}
        sleeps = self.count_sleeps()
        n_posts, start_ns, end_ns = map(int, poster.run()[0].split())
        n_heard, last_ns, n_calls = self.board.await_posts(n_posts) if self.receivers else (0, 0, 0)
        cpu_ns = {who: read_cpu_ns(pid) - before[who] for who, pid in pids.items()}
        return Flood(n_posts, end_ns - start_ns, n_heard, last_ns - start_ns, n_calls, cpu_ns,
                     self.count_sleeps() - sleeps)

    def count_sleeps(self):
        """How often the threads of the receivers have begun to wait."""
        return sum(sum(count_switches(receiver.pid).values()) for receiver in self.receivers)

    def stall(self, duration_ms):
        """Posts while the broker is stopped; returns posts, ns, bytes before and after, outcome."""
        poster = self.start("stalled", duration_ms, self.prefix)
        self.bus.pause()
        line = poster.run()[0]
        *numbers, outcome = line.split()
        return [*map(int, numbers), outcome]

    def time_first(self, timeout_s=60):
        """The time from starting a process until its first post is heard, in ns."""
        start_ns = time.monotonic_ns()
        self.spawn("first", self.prefix)
        n_posts, last_ns, _ = self.board.await_posts(1, first=timeout_s)
        return last_ns - start_ns if n_posts else None


class Posts:
    """Posts at rest, in ns: until everyone had heard, until the post returned, the processor time
    of the posting thread."""

    def __init__(self, lines):
        rows = [tuple(map(int, line.split())) for line in lines]
        self.heard_ns, self.returned_ns, self.cpu_ns = map(list, zip(*rows))


class Flood:
    """The result of a flood of posts."""

    def __init__(self, n_posts, posting_ns, n_heard, hearing_ns, n_calls, cpu_ns, n_sleeps):
        self.heard_per_s = n_heard / hearing_ns * 1e9 if n_heard else 0.0
        self.calls_per_s = n_calls / hearing_ns * 1e9 if n_heard else 0.0
        self.posted_per_s = n_posts / posting_ns * 1e9
        self.lost = 100 * max(0, n_posts - n_heard) / n_posts
        self.cpu_us = {who: ns / n_posts / 1000 for who, ns in cpu_ns.items()}
        self.sleeps = n_sleeps / n_posts
