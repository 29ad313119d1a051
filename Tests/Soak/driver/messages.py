"""Kills and stops processes that pass and hear messages, and compares what they said with the store.

What was passed is in the store under the number that the writer got; numbers have no gaps; what was
begun is there at most once. Each cursor gets every number, in order, once, except that after a kill
the message that was being handled comes again. What is no longer kept is counted as missed.
"""

import argparse
import contextlib
import json
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

from processes import Failure, Ground

GROUP = "org.example.soak"
KEPT = {"all": 10_000_000, "some": 50, "newest": 1, "all.cleared": 10_000_000}
N_WRITERS = 2
N_LISTENERS = 2
KILLS_OF_A_PART = 100
MAX_STOP_S = 0.3
END_TIMEOUT_S = 60


class Worker:
    """Processes that follow one another, and all that they have said."""

    def __init__(self, soak, name):
        self.soak, self.name = soak, name
        self.process = self.reader = None
        self.n_kills = 0

    def start(self):
        self.process = subprocess.Popen(
            [self.soak.program, *self.words()], env=self.soak.ground.env,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.soak.log)
        self.reader = threading.Thread(target=self.read, args=(self.process.stdout,), daemon=True)
        self.reader.start()

    def read(self, lines):
        for line in lines:
            if line.endswith(b"\n"):
                self.take(*line.decode().split())

    def kill(self):
        self.process.kill()
        self.n_kills += 1
        self.wait(-signal.SIGKILL)

    def finish(self):
        self.process.terminate()
        self.wait(0, -signal.SIGTERM)  # the latter if it had just started

    def wait(self, *statuses):
        if self.process.wait(END_TIMEOUT_S) not in statuses:
            raise Failure(f"{self.words()} ended by itself: {self.process.returncode}")
        self.reader.join()


class Writer(Worker):
    def __init__(self, soak, name, index):
        super().__init__(soak, name)
        self.index, self.n_begun, self.passed, self.fault = index, 0, {}, None

    def words(self):
        return ["pass-lines", self.name, str(KEPT[self.name]), str(self.index), str(self.n_begun)]

    def take(self, what, text, number="0"):
        if what == "begin":
            self.n_begun = int(text.split(".")[1]) + 1
        elif int(number) in self.passed:
            self.fault = f"{self.words()}: {number} was given twice"
        else:
            self.passed[int(number)] = text


class Listener(Worker):
    def __init__(self, soak, name, index):
        super().__init__(soak, name)
        self.index, self.heard, self.n_again, self.is_first = index, [], 0, True
        self.cursor, self.last, self.fault = {0}, 0, None

    def words(self):
        return ["hear-lines", self.name, str(KEPT[self.name]), f"cursor{self.index}"]

    def take(self, _, number, missed, text=None):
        if int(number) > 0:
            self.hear(int(number), int(missed), text)

    def start(self):
        self.is_first = True
        super().start()

    def hear(self, number, missed, text):
        base = number - 1 - missed
        if base not in (self.cursor if self.is_first else {self.last}):
            self.fault = self.fault or f"{self.words()}: {number}, {missed} missed, after {self.last}"
        elif missed and self.name == "all":
            self.fault = self.fault or f"{self.words()}: {missed} missed before {number}"
        elif text is None and not self.name.endswith("cleared"):
            self.fault = self.fault or f"{self.words()}: {number} has no value"
        if base < self.last:
            self.n_again += 1  # what was being handled at a kill, or it is among those missed
        else:
            self.heard.append((number, text))
        # The cursor is stored when a handler has returned, before the next call.
        self.cursor, self.last, self.is_first = {base, number}, number, False


class Soak:
    def __init__(self, arguments):
        self.program, self.n_kills = arguments.swift, arguments.kills
        self.seed = arguments.seed
        self.random = random.Random(arguments.seed)
        self.ground = Ground(arguments.ground, arguments.programs)
        self.log = open(self.ground.folder / "log", "w+b")
        self.writers = [Writer(self, name, i) for name in KEPT for i in range(N_WRITERS)]
        self.listeners = [Listener(self, name, i) for name in KEPT for i in range(N_LISTENERS)]
        self.n_stops = 0

    def harm(self):
        worker = self.random.choice(self.writers + self.listeners)
        time.sleep(self.random.uniform(0, 0.05))
        if self.random.random() < 0.2:
            worker.process.send_signal(signal.SIGSTOP)
            time.sleep(self.random.uniform(0, MAX_STOP_S))
            worker.process.send_signal(signal.SIGCONT)
            self.n_stops += 1
        else:
            worker.kill()
            worker.start()

    def query(self, statement, name):
        path = self.ground.data / GROUP / "wormhole" / "store.sqlite"
        with contextlib.closing(sqlite3.connect(path, timeout=10)) as store:
            return store.execute(statement, (name,)).fetchall()

    def rows(self, name):
        rows = self.query("SELECT number, value FROM messages WHERE name = ?", name)
        return {number: json.loads(value) for number, value in rows}

    def last_number(self, name):
        return self.query("SELECT max(records.id & 0xffffffffff) FROM records JOIN names "
                          "ON records.id >> 40 = names.id WHERE name = ?", name)[0][0]

    def check(self):
        for writer in self.writers:
            writer.finish()
        for name in KEPT:
            self.check_store(name, self.rows(name))
        for listener in self.listeners:
            self.check_listener(listener)
        if text := Path(self.log.name).read_text().strip():
            raise Failure(text)

    def check_store(self, name, rows):
        writers = [writer for writer in self.writers if writer.name == name]
        passed = {number: text for writer in writers for number, text in writer.passed.items()}
        if sum(len(writer.passed) for writer in writers) != len(passed):
            raise Failure(f"{name}: two writers got the same number")
        for fault in filter(None, (writer.fault for writer in writers)):
            raise Failure(fault)
        for number, text in passed.items():
            if name == "all" and number not in rows:
                raise Failure(f"{name}: {text} is lost")
            if rows.get(number, text) != text:
                raise Failure(f"{name}: {number} is {rows[number]}, and not {text}")
        if not name.endswith("cleared") and len(rows) < min(KEPT[name], self.last_number(name)):
            raise Failure(f"{name}: only {len(rows)} are kept")
        if name == "all" and sorted(rows) != list(range(1, len(rows) + 1)):
            raise Failure(f"{name}: the numbers have gaps")
        begun = {f"{writer.index}.{i}" for writer in writers for i in range(writer.n_begun)}
        if len(set(rows.values())) != len(rows) or not begun.issuperset(rows.values()):
            raise Failure(f"{name}: something was stored twice, or never passed")

    def check_listener(self, listener):
        last, deadline = self.last_number(listener.name), time.monotonic() + END_TIMEOUT_S
        while not listener.heard or listener.heard[-1][0] < last:
            if listener.fault or time.monotonic() > deadline:
                break
            time.sleep(0.01)
        heard = listener.heard[-1][0] if listener.heard else 0
        if listener.fault or heard != last:
            raise Failure(listener.fault or f"{listener.words()}: heard {heard}, not {last}")
        passed = {n: text for w in self.writers if w.name == listener.name
                  for n, text in w.passed.items()}
        for number, text in listener.heard:
            if text is not None and passed.get(number, text) != text:
                raise Failure(f"{listener.words()}: {number} is {text}, not {passed[number]}")

    def run(self):
        for worker in self.writers + self.listeners:
            worker.start()
        while (n_kills := sum(w.n_kills for w in self.writers + self.listeners)) < self.n_kills:
            goal = min(n_kills + KILLS_OF_A_PART, self.n_kills)
            while sum(w.n_kills for w in self.writers + self.listeners) < goal:
                self.harm()
            self.check()
            self.report()
            for writer in self.writers:
                writer.start()

    def report(self):
        passed = sum(len(writer.passed) for writer in self.writers)
        heard = sum(len(listener.heard) for listener in self.listeners)
        print(f"{self.ground.kind}: {passed} messages passed, {heard} heard, "
              f"{sum(listener.n_again for listener in self.listeners)} again; "
              f"{sum(writer.n_kills for writer in self.writers)} writers and "
              f"{sum(listener.n_kills for listener in self.listeners)} listeners killed, "
              f"{self.n_stops} stopped", flush=True)

    def end(self):
        for worker in self.writers + self.listeners:
            if worker.process:
                worker.process.kill()
                worker.process.wait()
        self.ground.end()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ground", choices=("daemon", "broker", "none"), required=True)
    parser.add_argument("--kills", type=int, required=True)
    parser.add_argument("--programs", type=Path, required=True)
    parser.add_argument("--swift", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    soak = Soak(parser.parse_args())
    try:
        soak.run()
    except Failure as failure:
        print(f"FAIL {soak.ground.kind}, seed {soak.seed}: {failure}")
        sys.exit(1)
    finally:
        soak.end()


main()
