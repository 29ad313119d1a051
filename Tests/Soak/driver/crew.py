"""The workers of a soak, what must be true of them when they rest, and how much they may grow."""

import time

from board import EVERYTHING, FENCE, N_NAMES, ONLY_FENCE, STATE
from processes import Failure, Worker

KEPT = ("newest", "history")
# What may be added to the first measurements: kB, descriptors, threads, files. Dispatch has at most
# 255 threads for handlers, and gives them back some seconds after a flood of requests. Each of its
# threads keeps up to 1,024 freed work items, which are 64 kB, and some pages of its stack.
GROWTH = {"memory": 4096, "pooled memory": 4096 + 64 * 80, "descriptors": 6, "threads": 4,
          "pooled threads": 64, "handling threads": 256, "files": 4}


class Crew:
    """All workers on one ground."""

    def __init__(self, ground, board, roles, patience_s, measures_memory):
        self.ground, self.board, self.patience_s = ground, board, patience_s
        self.measures_memory = measures_memory
        self.workers = [Worker(slot, *role) for slot, role in enumerate(roles)]
        self.counted = set()  # the processes that have counted since the last rest
        self.measured = {}  # at the first rests
        self.n_grown = {}  # at how many rests in succession
        self.memory = 0
        self.n_rests = 0
        self.board.set_for_all("is_split", ground.is_split)
        self.set_moves(0)

    def of(self, *kinds):
        return [worker for worker in self.workers if worker.kind in kinds]

    def start(self):
        """Starts the workers that do not run, and waits until all are ready."""
        for worker in self.workers:
            if not worker.process or worker.process.poll() is not None:
                worker.start(self.ground, self.board)
        for worker in self.workers:
            self.await_true(lambda: self.board.get(worker.slot, "is_ready"),
                            lambda: f"{worker} does not become ready")

    def end(self):
        for worker in self.workers:
            if worker.process:
                worker.resume()
                worker.kill()

    def await_true(self, is_true, describe):
        deadline = time.monotonic() + self.patience_s
        while not is_true():
            for worker in self.workers:
                worker.check_alive()
            if time.monotonic() > deadline:
                raise Failure(describe())
            time.sleep(0.005)

    # ---- rest ----------------------------------------------------------------------------------

    def await_heard(self, is_true, describe):
        """At rest, waits as long as calls come: after a flood the bus may have 80,000 signals to
        read."""
        before = None
        while before != (before := self.calls()):
            try:
                return self.await_true(is_true, describe)
            except Failure as failure:
                last = failure
        raise last

    def rest(self, poster, is_exact):
        """Lets all posters rest, then one post each name, and judges what was heard. After moves to
        other tables only the last posts are certain to be heard, and only by who is on the bus
        again."""
        self.board.set_for_all("rest", True)
        for worker in self.of("post", "pass", "call", "tell"):
            self.await_true(lambda: self.board.get(worker.slot, "rests"),
                            lambda: f"{worker} does not rest")
        for worker in self.of("call", "serve"):
            self.await_true(lambda: not self.board.get(worker.slot, "n_open"),
                            lambda: f"{worker}: {self.board.get(worker.slot, 'n_open')} never end")
        if self.ground.is_split or not is_exact:
            for one in self.of("post"):
                self.await_reach(one)
        if not is_exact:
            self.await_silence()  # a post writes nothing to a pipe that is full
            self.post_last(poster)
            self.meet()
        else:
            for worker in self.of("count"):
                self.await_true(lambda: not self.missing(worker),
                                lambda: f"{worker} has lost posts: {self.missing(worker)}")
            for worker in self.of("hear"):
                self.await_true(lambda: not self.missing(worker, [STATE]),
                                lambda: f"{worker} has lost states")
        self.await_silence()
        self.post_last(poster)
        for worker in self.of("pass"):
            self.pass_last(worker)
        for worker in self.of("call"):
            self.order(worker)
        if is_exact:
            self.compare()
        self.begin_counting()
        self.measure()
        self.check_logs()
        self.n_rests += 1
        self.ground.note("rest")
        self.board.set_for_all("rest", False)

    def missing(self, worker, names=range(N_NAMES)):
        """Returns how many posts an observer has not heard of, by name."""
        counts = {}
        for name in names:
            sure = self.board.total(name, "returned") - self.board.count(
                worker.slot, name, "all_begun")
            missing = sure - self.board.count(worker.slot, name, "heard")
            if missing > 0:
                counts[name] = missing
        return counts

    def calls(self):
        return {worker: self.board.counts(worker.slot, "n_calls")
                for worker in self.of("count", "notice")}

    def await_silence(self):
        """Waits until everybody has heard of what was posted before. A moment without a call does
        not show it, as an observer may be starved. It only serves executors that run names apart,
        and pipes: a full one does not take the fence."""
        for poster in self.of("post"):
            self.post_and_await(poster, ONLY_FENCE, [FENCE], self.of("count"))
        before = None
        while before != (before := self.calls()):
            time.sleep(0.2)

    def await_reach(self, poster):
        """Posts until everybody shares a table with the poster or is back on its bus. Only the fence
        counts: older posts may still arrive. Everybody must hear two in succession: who moves to
        the next table is called once more for each name, which looks like a fence."""
        n_reached = 0

        def count():
            return [self.board.count(worker.slot, FENCE, "n_calls")
                    for worker in self.of("count", "notice")]

        def is_heard():
            nonlocal n_reached
            before = count()
            self.order(poster, ONLY_FENCE)
            until = time.monotonic() + 1
            while not (is_by_all := all(now > then for now, then in zip(count(), before))) and (
                    time.monotonic() < until):
                time.sleep(0.005)
            n_reached = n_reached + 1 if is_by_all else 0
            return n_reached == 2

        def is_read():
            for writer in self.of("pass"):
                self.order(writer)
            time.sleep(0.1)
            return not any(self.late_listeners(writer) for writer in self.of("pass"))
        self.await_heard(is_heard, lambda: f"not everybody hears {poster}")
        self.await_true(is_read, lambda: "not everybody gets messages")

    def post_last(self, poster):
        """After the last post of a name everybody is called at least once."""
        self.post_and_await(poster, EVERYTHING, range(N_NAMES), self.of("count", "notice"))

    def post_and_await(self, poster, what, names, observers):
        def count(worker):
            return [self.board.count(worker.slot, name, "n_calls") for name in names]
        before = {worker: count(worker) for worker in observers}
        self.order(poster, what)
        for worker, n_calls in before.items():
            def deaf():
                return [name for name, now, then in zip(names, count(worker), n_calls)
                        if now == then]
            self.await_heard(lambda: not deaf(),
                             lambda: f"{worker} has lost the last post of names {deaf()}")

    def pass_last(self, writer):
        """After the last message of a name everybody who listens gets it."""
        self.order(writer)
        self.await_true(lambda: not self.late_listeners(writer),
                        lambda: f"the last message of {writer} is lost: "
                                f"{self.late_listeners(writer)}")

    def late_listeners(self, writer):
        """Returns who is at an earlier message than the last one."""
        last = f"last{KEPT.index(writer.role[1])}"
        number = self.board.get(writer.slot, last)
        return [f"{worker} is at {self.board.get(worker.slot, last)} of {number}"
                for worker in self.of("listen")
                if worker.role[1] == writer.role[1] and self.board.get(worker.slot, last) < number]

    def order(self, worker, what=EVERYTHING):
        self.board.set(worker.slot, "order", what)
        ordered = self.board.get(worker.slot, "n_ordered") + 1
        self.board.set(worker.slot, "n_ordered", ordered)
        self.await_true(lambda: self.board.get(worker.slot, "n_obeyed") == ordered,
                        lambda: f"{worker} does not obey")

    def set_moves(self, n_moves):
        """After a move each signal of another table counts, even for a post that was heard before:
        a bus that stood still in a flood may have 80,000."""
        self.n_moves = n_moves
        self.board.set_for_all("n_moves", n_moves * (1 if self.ground.kind == "none" else 20000))

    def count_move(self):
        self.set_moves(self.n_moves + 1)

    def meet(self):
        """Posts until all that hold names are in a table: with a bus, a process that has looked for
        it does not look again for five seconds, and one that does not post only if it is rung."""
        def strangers():
            tables = self.ground.find_tables()
            try:
                return [worker for worker in self.of("count", "notice")
                        if not worker.is_in(tables)]
            except FileNotFoundError:
                return self.workers

        def have_met():
            if not strangers():
                return True
            for poster in self.of("post"):
                self.order(poster, ONLY_FENCE)
            time.sleep(0.1)
            return False
        self.await_true(have_met, lambda: f"not in the table: {', '.join(map(str, strangers()))}")

    def compare(self):
        """All that have counted since the last rest have heard the same number of posts."""
        def heard():
            return {f"{worker.slot} {worker}": self.board.counts(worker.slot, "heard")
                    for worker in self.of("count") if worker.process.pid in self.counted}
        self.await_true(lambda: len(set(map(tuple, heard().values()))) <= 1,
                        lambda: "observers disagree on what was posted:\n  " + "\n  ".join(
                            f"{worker}: {counts}" for worker, counts in heard().items()))

    def begin_counting(self):
        self.await_silence()
        self.board.begin_counting([worker.slot for worker in self.of("count")])
        self.counted = {worker.process.pid for worker in self.of("count")}

    # ---- growth --------------------------------------------------------------------------------

    def measure(self):
        """Compares with the largest of the first rests, when all pools were filled. A flood leaves
        memory and idle threads behind for a while; a leak is still there two rests later."""
        found = {(worker, what): n for worker in self.workers if not worker.mortal
                 for what, n in worker.measure().items()}
        found["the ground", "files"] = self.ground.count_files()
        self.memory = max(n for (_, what), n in found.items() if what.endswith("memory"))
        for key, n in found.items():
            first = self.measured.setdefault(key, n)
            if self.n_rests < 3:
                self.measured[key] = max(first, n)
                continue
            is_judged = not key[1].endswith("memory") or self.measures_memory
            has_grown = is_judged and n > first + GROWTH[key[1]]
            self.n_grown[key] = self.n_grown.get(key, 0) + 1 if has_grown else 0
            if self.n_grown[key] == 3:
                raise Failure(f"{key[0]}: {key[1]} have grown from {first} to {n}")

    def check_logs(self):
        for worker in self.workers:
            worker.check_alive()
            if self.board.get(worker.slot, "n_violations") or "Sanitizer" in worker.read_log():
                raise Failure(f"{worker} reports what must not happen")
