"""Lets workers post and hear while they are killed and stopped, and judges what they have heard."""

import argparse
import random
import sys
import time
from pathlib import Path

from board import Board
from chaos import Chaos
from crew import KEPT, Crew
from processes import Failure, Ground

HARM_S = 6
LOOK_S = 5.5  # a process without a bus looks for its table every five seconds
REPORT_S = 60
LOG_LINES = 60


def read_arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ground", choices=("daemon", "broker", "none", "tables"), required=True)
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--programs", type=Path, required=True, help="the workers in C")
    parser.add_argument("--swift", type=Path, help="the worker in Swift")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--slowness", type=float, default=1)
    parser.add_argument("--history", type=Path, help="to which a history is appended")
    return parser.parse_args()


def make_roles(arguments):
    """Returns program, role, what it is judged by, whether it may be killed."""
    c = arguments.programs / "soak-worker"
    roles = [
        (c, ("post",), "post", False),
        (c, ("post",), "post"),
        (c, ("post",), "post"),
        (c, ("observe", "inline"), "count", False),
        (c, ("observe", "thread"), "count", False),
        (c, ("observe", "loop"), "count", False),
        (c, ("observe", "thread"), "count"),
        (c, ("check",), "notice", False),
        (c, ("check",), "notice"),
        (c, ("descriptor",), "notice", False),
        (c, ("descriptor",), "notice"),
    ]
    if arguments.ground != "none":
        caller = arguments.programs / "soak-caller"
        roles += [(caller, ("serve",), "serve", False), (caller, ("serve",), "serve"),
                  (caller, ("call",), "call", False), (caller, ("call",), "call")]
    if arguments.history:
        teller = arguments.programs / "soak-teller"
        roles += [(teller, ("tell",), "tell"), (teller, ("hear",), "hear", False),
                  (teller, ("hear",), "hear")]
    return roles + make_swift_roles(arguments.swift, arguments.ground) if arguments.swift else roles


def make_swift_roles(swift, ground):
    roles = [
        (swift, ("post",), "post"),
        (swift, ("observe", "inline"), "count"),
        (swift, ("observe", "queue"), "count", False),
        (swift, ("observe", "sequence"), "count", False),
        (swift, ("token",), "notice", False),
        (swift, ("resume", "history"), "listen"),
    ]
    for kept in KEPT:
        roles += [(swift, ("pass", kept), "pass", False), (swift, ("pass", kept), "pass"),
                  (swift, ("listen", kept), "listen", False)]
    if ground != "none":
        roles += [(swift, ("serve",), "serve", False), (swift, ("serve",), "serve"),
                  (swift, ("call",), "call", False), (swift, ("call",), "call")]
    return roles


class Soak:
    """One ground, for a time."""

    def __init__(self, arguments):
        self.arguments = arguments
        self.random = random.Random(arguments.seed)
        self.ground = Ground(arguments.ground, arguments.programs, arguments.history)
        self.crew = Crew(self.ground, Board(self.ground.folder / "board"), make_roles(arguments),
                         60 * arguments.slowness, measures_memory=arguments.slowness == 1)
        self.chaos = Chaos(self.crew, self.ground, self.random)
        self.ground.note("begins", ground=arguments.ground, seed=arguments.seed)
        self.start = self.reported = time.monotonic()
        self.n_rests_reported = 0

    def run(self):
        end = self.start + self.arguments.seconds
        if not self.ground.has_disk:
            print("skipped: full disks, as no file system may be mounted")
        # A signal on its way while nobody has a table may reach an observer that registers later.
        self.crew.board.set_for_all("rest", True)
        self.crew.start()
        self.crew.board.set_for_all("rest", False)
        while (now := time.monotonic()) < end or self.crew.n_rests == 0:
            # In every third round the table is taken away, in the next one some hear of that late.
            # What a history says is judged exactly, so there it stays.
            part = 0 if self.arguments.history else self.crew.n_rests % 3
            self.chaos.run(min(HARM_S, max(1, end - now)), takes_tables=part == 1)
            self.crew.start()
            if part == 1 and self.ground.kind == "none":
                time.sleep(LOOK_S * self.arguments.slowness)  # until then posts may be missed
            self.crew.rest(self.random.choice(self.crew.of("post")),
                           is_exact=part == 0 and not self.ground.is_split)
            if part == 2:
                self.crew.set_moves(0)
            if time.monotonic() - self.reported >= REPORT_S:
                self.report()
        if self.n_rests_reported < self.crew.n_rests:
            self.report()

    def report(self):
        self.reported, self.n_rests_reported = time.monotonic(), self.crew.n_rests
        board = self.crew.board
        n_posts = sum(board.total(name, "returned") for name in range(4))
        n_calls = sum(sum(calls) for calls in self.crew.calls().values())
        n_messages = sum(board.get(worker.slot, f"last{kept}") for worker in self.crew.of("listen")
                         for kept in range(len(KEPT)))
        n_requests = sum(board.get(worker.slot, "n_ended") for worker in self.crew.of("call"))
        harm = ", ".join(f"{n} {what}" for what, n in sorted(self.chaos.counts.items()))
        print(f"{self.arguments.ground}: {self.reported - self.start:.0f} s, "
              f"{self.crew.n_rests} rests, {n_posts} posts, {n_calls} calls of those alive, "
              f"{n_messages} messages to listeners, {n_requests} requests, "
              f"at most {self.crew.memory} kB; {harm}", flush=True)

    def explain(self, failure):
        self.ground.note("rest")  # what has not been heard of by now is lost
        print(f"FAIL {self.arguments.ground}, seed {self.arguments.seed}: {failure}")
        for worker in self.crew.workers:
            if text := worker.read_log().strip():
                print(f"--- {worker}\n" + "\n".join(text.splitlines()[:LOG_LINES]))

    def end(self):
        self.crew.end()
        self.ground.end()


def main():
    soak = Soak(read_arguments())
    try:
        soak.run()
    except Failure as failure:
        soak.explain(failure)
        sys.exit(1)
    finally:
        soak.end()


main()
