#!/usr/bin/env python3
"""Runs the contenders side by side, then shows the figures. See compare.py --help."""

import argparse
import os
import shutil
import signal
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

import peers
import report
from buses import Bus, is_installed
from measures import MEASURES, MODES, count_wakeups
from processes import Child, Failure
from results import Results
from runs import Run


def parse_arguments():
    parser = argparse.ArgumentParser(
        description="Compares ways to tell other processes that something has happened.")
    parser.add_argument("--mode", choices=MODES, default="full")
    parser.add_argument("--broker", choices=("daemon", "broker", "both"), default="both")
    parser.add_argument("--programs", type=Path, required=True, help="folder of the C programs")
    parser.add_argument("--swift", type=Path, required=True, help="folder of the Swift programs")
    parser.add_argument("--python", type=Path, required=True, help="a Python with dbus-fast")
    parser.add_argument("--notify", type=Path, help="the program notify-figures")
    parser.add_argument("--messages", type=Path, help="the program wormhole-figures")
    parser.add_argument("--output", type=Path, required=True, help="folder for the results")
    parser.add_argument("--peer", action="append", help="only this one and the yardstick")
    parser.add_argument("--measure", action="append", help="only this one")
    return parser.parse_args()


def plan(arguments, skipped):
    """Returns the pairs of a contender and a broker that can run."""
    pairs = []
    for peer in peers.list_peers(arguments.programs, arguments.swift, arguments.python):
        if arguments.peer and peer.name not in [*arguments.peer, peers.YARDSTICK]:
            continue
        if not peer.is_built():
            skipped.append(f"{peer.name}, which is not built here")
            continue
        for kind in peer.kinds:
            if kind in peers.DBUS and arguments.broker not in (kind, "both"):
                continue
            if is_installed(kind, arguments.programs):
                pairs.append((peer, kind))
            else:
                skipped.append(f"{peer.name} on {kind}, which is not installed")
    return pairs


class Comparison:
    """All runs of one call of the program."""

    def __init__(self, arguments, folder):
        self.arguments, self.folder = arguments, folder
        self.mode = MODES.index(arguments.mode)
        self.skipped = []
        self.pairs = plan(arguments, self.skipped)
        self.results = Results()
        self.n_buses = 0

    def measures(self):
        return [measure for measure in MEASURES if measure.amounts[self.mode]
                and (not self.arguments.measure or measure.key in self.arguments.measure)]

    def dbus_kinds(self):
        return [kind for kind in peers.DBUS if any(kind == its for _, its in self.pairs)]

    def in_order(self):
        """The pairs as they are shown: by broker, those outside D-Bus at the end."""
        kinds = self.dbus_kinds()
        return sorted(self.pairs, key=lambda pair:
                      kinds.index(pair[1]) if pair[1] in kinds else len(kinds))

    def run(self):
        """Round by round, so that a machine that changes its pace does so for all."""
        measures = self.measures()
        for number in range(max(measure.rounds[self.mode] for measure in measures)):
            for measure in measures:
                if number < measure.rounds[self.mode]:
                    self.run_measure(measure, number)

    def run_measure(self, measure, number):
        start, buses = time.monotonic(), {}
        shift = number * 5 % len(self.pairs)
        processors = os.sched_getaffinity(0)
        if measure.is_pinned:
            os.sched_setaffinity(0, {max(processors)})
        try:
            if measure.is_together:
                self.run_together(measure, number, buses)
            else:
                for peer, kind in self.pairs[shift:] + self.pairs[:shift]:
                    self.run_one(measure, number, peer, kind, buses)
        finally:
            for bus in buses.values():
                bus.stop()
            os.sched_setaffinity(0, processors)
        print(f"round {number + 1}, {measure.key}: {time.monotonic() - start:.1f} s",
              file=sys.stderr)

    def run_one(self, measure, number, peer, kind, buses):
        # What has failed fails again, and takes its time for it.
        if (measure.key, kind, peer.name) in self.results.reasons:
            return
        try:
            with self.make_run(measure, peer, kind, buses) as run:
                figures = measure.run(run, measure.amounts[self.mode])
            self.results.add(kind, peer.name, number, figures)
        except (Failure, OSError) as failure:
            self.note_failure(measure, kind, peer.name, number, failure)
        if kind in buses and (measure.spoils_bus or not buses[kind].is_alive()):
            buses.pop(kind).stop()

    def run_together(self, measure, number, buses):
        """All contenders at the same time, for what takes long and disturbs nobody."""
        receivers = {}
        with ExitStack() as stack:
            for peer, kind in self.pairs:
                try:
                    run = stack.enter_context(self.make_run(measure, peer, kind, buses))
                    receivers[kind, peer.name] = measure.run(run, measure.amounts[self.mode])
                except (Failure, OSError) as failure:
                    self.note_failure(measure, kind, peer.name, number, failure)
            figures = list(count_wakeups(receivers.values(), measure.amounts[self.mode]))
        for (kind, name), figure in zip(receivers, figures):
            self.results.add(kind, name, number, {measure.key: figure})

    def make_run(self, measure, peer, kind, buses):
        if kind not in buses:
            buses[kind] = self.start_bus(kind)
        return Run(peer, buses[kind], self.folder, measure.n_slots)

    def note_failure(self, measure, kind, name, number, failure):
        reason, *partial = failure.args if isinstance(failure, Failure) else (str(failure),)
        # A report can be shown elsewhere: programs go by their names.
        for path in (self.arguments.programs, self.arguments.swift, self.arguments.python.parent):
            reason = reason.replace(f"{path}/", "")
        self.results.give_reason(measure.key, kind, name, reason)
        for figures in partial:
            self.results.add(kind, name, number, figures)

    def start_bus(self, kind):
        self.n_buses += 1
        return Bus(kind, self.folder / f"bus{self.n_buses}", self.arguments.programs)


def main():
    arguments = parse_arguments()
    arguments.output.mkdir(parents=True, exist_ok=True)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(1))
    # In memory: the boards are files, and nothing is to wait for a disk.
    base = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    folder = Path(tempfile.mkdtemp(prefix="dn-bench.", dir=base))
    try:
        comparison = Comparison(arguments, folder)
        comparison.run()
    finally:
        Child.stop_all()
        shutil.rmtree(folder, ignore_errors=True)
    report.write(comparison, arguments)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
