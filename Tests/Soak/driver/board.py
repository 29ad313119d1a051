"""Reads and writes the memory that the workers share (layout: board/soak.c)."""

import mmap
from itertools import product

N_WORKERS, N_NAMES, N_KEPT = 40, 4, 2
FENCE, STATE = N_NAMES, N_NAMES + 1  # two more names
N_COUNTED = N_NAMES + 2
EVERYTHING, ONLY_FENCE = 0xffffffff, 0xfffffffe  # orders
BOARD = ("rest", "n_disk_changes", "n_moves", "is_split")
WORKER = ("is_ready", "rests", "floods", "order", "n_ordered", "n_obeyed", "n_violations", "n_open",
          "n_ended", *(f"last{kept}" for kept in range(N_KEPT)))
COUNT = ("begun", "returned", "heard", "n_calls", "all_returned", "all_begun")
N_WORDS = len(WORKER) + N_COUNTED * len(COUNT)


class Board:
    """Words of 64 bits in a file: those for all, then those of each worker."""

    def __init__(self, path):
        self.path = path
        n_bytes = 8 * (len(BOARD) + N_WORKERS * N_WORDS)
        with open(path, "w+b") as file:
            file.truncate(n_bytes)
            self.words = memoryview(mmap.mmap(file.fileno(), n_bytes)).cast("Q")
        self.n_returned = [0] * N_COUNTED  # when the last rest ended

    def set_for_all(self, field, value):
        self.words[BOARD.index(field)] = int(value)

    def get(self, worker, field):
        return self.words[self._start(worker) + WORKER.index(field)]

    def set(self, worker, field, value):
        self.words[self._start(worker) + WORKER.index(field)] = value

    def count(self, worker, name, field):
        return self.words[self._position(worker, name, field)]

    def counts(self, worker, field):
        """Returns what a worker has counted, for each name."""
        return [self.count(worker, name, field) for name in range(N_NAMES)]

    def total(self, name, field):
        return sum(self.count(worker, name, field) for worker in range(N_WORKERS))

    def forget_hearing(self, worker):
        """Prepares a worker to be started anew; what it has posted or handled stays."""
        self.set(worker, "is_ready", 0)
        self.set(worker, "rests", 0)
        self.set(worker, "n_open", 0)
        for name in range(N_COUNTED):
            for field in COUNT[2:]:
                self.words[self._position(worker, name, field)] = 0
            self.words[self._position(worker, name, "all_returned")] = self.n_returned[name]

    def begin_counting(self, workers):
        """Lets workers that hear nothing at the moment count from now on."""
        self.n_returned = [self.total(name, "returned") for name in range(N_COUNTED)]
        for worker, (name, n_returned) in product(workers, enumerate(self.n_returned)):
            for field, n in (("heard", 0), ("all_returned", n_returned),
                             ("all_begun", self.total(name, "begun"))):
                self.words[self._position(worker, name, field)] = n

    @staticmethod
    def _start(worker):
        return len(BOARD) + worker * N_WORDS

    def _position(self, worker, name, field):
        return self._start(worker) + len(WORKER) + name * len(COUNT) + COUNT.index(field)
