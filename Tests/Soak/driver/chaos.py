"""What happens to the workers and their bus between two rests."""

import heapq
import itertools
import os
import shutil
import time


class Chaos:
    """Does harm at random, and undoes it after a moment."""

    def __init__(self, crew, ground, random):
        self.crew, self.ground, self.random = crew, ground, random
        self.to_undo = []  # a heap of time, number, function
        self.order = itertools.count()
        self.counts = {}
        self.harm = {"kill": self.kill, "stop": self.stop, "flood": self.flood}
        if ground.kind != "none":
            self.harm.update(restart=self.restart, pause=self.pause)
        if ground.has_disk:
            self.harm["disk"] = self.fill_disk
        self.harm_table = dict(self.harm)
        for take in (self.remove_table, self.rename_table, self.replace_table,
                     self.remove_directory, self.rename_directory, self.replace_directory):
            self.harm_table[take.__name__] = lambda take=take: self.take_table(take)
        self.is_bus_well = True
        self.n_disk_changes = 0  # the disk is full while it is odd

    def run(self, seconds, takes_tables):
        """Does harm for a time, to the table if wanted; all is well when it returns."""
        harm = self.harm_table if takes_tables else self.harm
        end = time.monotonic() + seconds
        while (now := time.monotonic()) < end:
            while self.to_undo and self.to_undo[0][0] <= now:
                heapq.heappop(self.to_undo)[2]()
            what = self.random.choice(list(harm))
            self.counts[what] = self.counts.get(what, 0) + 1
            harm[what]()
            time.sleep(self.random.uniform(0.02, 0.3))
        while self.to_undo:
            heapq.heappop(self.to_undo)[2]()

    def undo_later(self, seconds, undo):
        until = time.monotonic() + self.random.uniform(0, seconds)
        heapq.heappush(self.to_undo, (until, next(self.order), undo))

    def kill(self):
        """May also kill a worker that is not ready yet."""
        worker = self.random.choice([worker for worker in self.crew.workers if worker.mortal])
        worker.check_alive()
        worker.kill()
        worker.start(self.ground, self.crew.board)

    def stop(self):
        worker = self.random.choice(self.crew.workers)
        worker.stop()
        self.undo_later(1, worker.resume)

    def flood(self):
        slot = self.random.choice(self.crew.of("post", "pass", "call")).slot
        self.crew.board.set(slot, "floods", 1)
        self.undo_later(0.5, lambda: self.crew.board.set(slot, "floods", 0))

    def restart(self):
        self.harm_bus("kill", "start")

    def pause(self):
        self.harm_bus("pause", "resume")

    def harm_bus(self, what, undo):
        if not self.is_bus_well:
            return
        self.is_bus_well = False
        self.ground.order(what)

        def mend():
            self.ground.order(undo)
            self.is_bus_well = True
        self.undo_later(1.5, mend)

    def fill_disk(self):
        if self.n_disk_changes % 2:
            return
        self.count_disk_change()
        self.ground.fill_disk()

        def mend():
            self.ground.free_disk()
            self.count_disk_change()
        self.undo_later(1, mend)

    def count_disk_change(self):
        self.n_disk_changes += 1
        self.crew.board.set_for_all("n_disk_changes", self.n_disk_changes)

    # ---- the table -----------------------------------------------------------------------------

    def take_table(self, take):
        """Takes it away before the workers make the next one; it is never put back."""
        tables = self.ground.find_tables()
        if not tables:
            return
        self.crew.count_move()
        try:
            take(self.random.choice(tables))
        except FileNotFoundError:
            pass  # a worker has replaced it

    def remove_table(self, table):
        table.unlink()

    def rename_table(self, table):
        os.rename(table, table.parent / ".away")
        self.undo_later(1, lambda: (table.parent / ".away").unlink(missing_ok=True))

    def replace_table(self, table):
        text = table.parent.parent / "no-table"
        text.write_text("no table")
        os.rename(text, table)

    def remove_directory(self, table):
        shutil.rmtree(table.parent, ignore_errors=True)

    def rename_directory(self, table):
        away = table.parent.with_name("away")
        shutil.rmtree(away, ignore_errors=True)
        os.rename(table.parent, away)

    def replace_directory(self, table):
        self.rename_directory(table)
        table.parent.mkdir(mode=0o700, exist_ok=True)
