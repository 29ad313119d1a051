"""Reads and writes the memory that the workers share (layout: board/soak.c)."""

import mmap

N_WORKERS, N_NAMES = 32, 4
WORKER = ("is_ready", "rests", "floods", "n_ordered", "n_obeyed", "n_violations")
COUNT = ("begun", "returned", "heard", "n_calls", "all_returned", "all_begun")
N_WORDS = len(WORKER) + N_NAMES * len(COUNT)


class Board:
    """Words of 64 bits in a file: an order to rest, then those of each worker."""

    def __init__(self, path):
        self.path = path
        n_bytes = 8 * (1 + N_WORKERS * N_WORDS)
        with open(path, "w+b") as file:
            file.truncate(n_bytes)
            self.words = memoryview(mmap.mmap(file.fileno(), n_bytes)).cast("Q")

    def order_rest(self, rests):
        self.words[0] = int(rests)

    def get(self, worker, field):
        return self.words[1 + worker * N_WORDS + WORKER.index(field)]

    def set(self, worker, field, value):
        self.words[1 + worker * N_WORDS + WORKER.index(field)] = value

    def count(self, worker, name, field):
        return self.words[self._position(worker, name, field)]

    def counts(self, worker, field):
        """Returns what a worker has counted, for each name."""
        return [self.count(worker, name, field) for name in range(N_NAMES)]

    def total(self, name, field):
        return sum(self.count(worker, name, field) for worker in range(N_WORKERS))

    def forget_hearing(self, worker):
        """Prepares a worker to be started anew; what it has posted stays."""
        self.set(worker, "is_ready", 0)
        self.set(worker, "rests", 0)
        for name in range(N_NAMES):
            for field in COUNT[2:]:
                self.words[self._position(worker, name, field)] = 0

    @staticmethod
    def _position(worker, name, field):
        return 1 + worker * N_WORDS + len(WORKER) + name * len(COUNT) + COUNT.index(field)
