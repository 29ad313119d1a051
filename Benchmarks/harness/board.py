"""Reads the memory in which receivers record what they have heard (layout: bench.h)."""

import mmap
import struct
import time

SLOT = struct.Struct("<QQQ40x")


class Board:
    """Slots of one run, in a file that the receivers map."""

    def __init__(self, path, n_slots):
        self.path = path
        with open(path, "w+b") as file:
            file.truncate(n_slots * SLOT.size)
            self.memory = mmap.mmap(file.fileno(), n_slots * SLOT.size)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.memory.close()
        self.path.unlink()

    def read(self, slot=0):
        """Returns posts heard, ns of the last one, calls."""
        return SLOT.unpack_from(self.memory, slot * SLOT.size)

    def await_posts(self, n_posts, silence=1.0, first=60.0):
        """Waits until that many are heard or, for a while, none; returns what read() does."""
        seen, changed = self.read(), time.monotonic()
        while seen[0] < n_posts and time.monotonic() < changed + (silence if seen[0] else first):
            time.sleep(0.002)
            now = self.read()
            if now != seen:
                seen, changed = now, time.monotonic()
        return seen
