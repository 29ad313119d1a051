#!/usr/bin/env python3
"""Runs the contenders side by side, then shows the figures. Scripts/bench calls it."""

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
from measures import MEASURES, MODES, PINNED, count_wakeups
from processes import Child, Failure
from results import Results
from runs import Run


def parse_arguments():
    parser = argparse.ArgumentParser(
        description="Compares ways to tell other processes that something has happened.")
    parser.add_argument("--mode", choices=MODES, default="full")
    parser.add_argument("--broker", choices=(*peers.OURS, "all"), default="all")
    parser.add_argument("--programs", type=Path, required=True, help="folder of the C programs")
    parser.add_argument("--swift", type=Path, required=True, help="folder of the Swift programs")
    parser.add_argument("--python", type=Path, required=True, help="a Python with dbus-fast")
    parser.add_argument("--against", type=Path, help="folder of another build of the library")
    parser.add_argument("--output", type=Path, required=True, help="folder for report and charts")
    parser.add_argument("--figures", type=Path, required=True, help="file for all figures")
    parser.add_argument("--peer", action="append", help="only this one and yardsticks")
    parser.add_argument("--measure", action="append", help="only this one")
    return parser.parse_args()


def plan(arguments, groups, skipped):
    """Returns the pairs of a contender and a broker that can run."""
    pairs = []
    for peer in peers.list_peers(arguments):
        if peer.group not in groups or arguments.peer and not (
                peer.name.removesuffix(peers.BEFORE) in arguments.peer or peer.is_yardstick):
            continue
        if missing := peer.find_missing():
            skipped[f"{missing}, which is not built here"] = None
            continue
        for kind in peer.kinds:
            if kind in peers.OURS and arguments.broker not in (kind, "all"):
                continue
            if is_installed(kind, arguments.programs):
                pairs.append((peer, kind))
            else:
                skipped[f"{kind}, which is not installed"] = None
    return pairs


class Comparison:
    """All runs of one call of the program."""

    def __init__(self, arguments, folder):
        self.arguments, self.folder = arguments, folder
        self.mode = MODES.index(arguments.mode)
        self.measures = [measure for measure in MEASURES if measure.amounts[self.mode]
                         and (not arguments.measure or measure.key in arguments.measure)]
        self.skipped = {}  # texts, in their order
        self.pairs = plan(arguments, {measure.group for measure in self.measures}, self.skipped)
        self.results = Results()
        self.unreachable = set()  # programs whose posts reach nobody without a bus
        self.n_buses = 0

    def dbus_kinds(self):
        return [kind for kind in peers.DBUS if any(kind == its for _, its in self.pairs)]

    def rows(self, table):
        """What a table shows, by broker: contender, broker, style."""
        style_of = {peer.name: peer.style for peer, _ in self.pairs if peer.group == table.group}
        if any(measure.is_program for measure in self.measures if measure.group == table.group):
            # A program brings contenders of its own.
            pairs = self.results.contenders(table.key)
            style_of = {name: "yardstick" if name in table.yardsticks() else "ours"
                        for name, _ in pairs}
        else:
            pairs = [(peer.name, kind) for peer, kind in self.pairs if peer.group == table.group]
        kinds = [*peers.OURS, *(kind for _, kind in pairs)]
        rows = [(name, kind, style_of[name]) for name, kind in pairs
                if not name.endswith(peers.BEFORE) and table.has_row(self.results, kind, name)]
        return sorted(rows, key=lambda row: (kinds.index(row[1]), peers.STYLES.index(row[2])))

    def run(self):
        """Round by round, so that a machine that changes speed does so for all."""
        self.find_unreachable()
        for number in range(max(measure.rounds[self.mode] for measure in self.measures)):
            for measure in self.measures:
                if number < measure.rounds[self.mode]:
                    self.run_measure(measure, number)

    def find_unreachable(self):
        """Tries whether posts reach other processes without a bus."""
        buses, tried = {}, set()
        try:
            for peer, kind in self.pairs:
                if kind == peers.NONE and peer.can_observe and peer.program() not in tried:
                    tried.add(peer.program())
                    self.try_to_reach(peer, kind, buses)
        finally:
            for bus in buses.values():
                bus.stop()

    def try_to_reach(self, peer, kind, buses):
        try:
            with self.make_run(peer, kind, buses) as run:
                run.receive()
                if run.time_first(timeout_s=2) is None:
                    raise Failure("no post was heard")
        except (Failure, OSError) as failure:
            self.unreachable.add(peer.program())
            self.skipped[f"{peer.name} and its like without a bus, where other processes do not "
                         f"hear it: {self.explain(failure)}"] = None

    def pairs_of(self, measure):
        return [(peer, kind) for peer, kind in self.pairs
                if peer.group == measure.group and measure.key.startswith(peer.only)
                and not (kind == peers.NONE and (measure.needs_bus or (
                    measure.is_heard and peer.program() in self.unreachable)))]

    def run_measure(self, measure, number):
        start, buses = time.monotonic(), {}
        pairs = self.pairs_of(measure)
        shift = number * 5 % max(1, len(pairs))
        processors = os.sched_getaffinity(0)
        if measure.is_pinned:
            os.sched_setaffinity(0, {max(processors)})
        try:
            if measure.is_together:
                self.run_together(measure, number, pairs, buses)
            else:
                for peer, kind in pairs[shift:] + pairs[:shift]:
                    self.run_one(measure, number, peer, kind, buses)
        finally:
            for bus in buses.values():
                bus.stop()
            os.sched_setaffinity(0, processors)
        print(f"round {number + 1}, {measure.key}: {time.monotonic() - start:.1f} s",
              file=sys.stderr)

    def run_one(self, measure, number, peer, kind, buses):
        # What has failed would fail again, and take time.
        if (measure.key, kind, peer.name) in self.results.reasons:
            return
        try:
            with self.make_run(peer, kind, buses, measure.n_slots, measure.is_one_session) as run:
                figures = measure.run(run, measure.amounts[self.mode])
            self.add(measure, kind, peer.name, number, figures)
        except (Failure, OSError) as failure:
            self.note_failure(measure, kind, peer.name, number, failure)
        if kind in buses and (measure.spoils_bus or not buses[kind].is_alive()):
            buses.pop(kind).stop()

    def add(self, measure, kind, name, number, figures):
        if measure.is_program:
            # Another build has another name, and so has everything that it prints.
            before = peers.BEFORE if name.endswith(peers.BEFORE) else ""
            for contender, its_figures in figures.items():
                self.results.add(kind, contender + before, number, its_figures)
        else:
            suffix = PINNED if measure.key.endswith(PINNED) else ""
            self.results.add(kind, name, number,
                             {figure + suffix: value for figure, value in figures.items()})

    def run_together(self, measure, number, pairs, buses):
        """All contenders at the same time, for what takes long and does not disturb others."""
        receivers = {}
        with ExitStack() as stack:
            for peer, kind in pairs:
                try:
                    run = stack.enter_context(self.make_run(peer, kind, buses))
                    receivers[kind, peer.name] = measure.run(run, measure.amounts[self.mode])
                except (Failure, OSError) as failure:
                    self.note_failure(measure, kind, peer.name, number, failure)
            figures = list(count_wakeups(receivers.values(), measure.amounts[self.mode]))
        for (kind, name), figure in zip(receivers, figures):
            self.results.add(kind, name, number, {measure.key: figure})

    def make_run(self, peer, kind, buses, *how):
        if kind not in buses:
            buses[kind] = self.start_bus(kind)
        return Run(peer, buses[kind], self.folder, *how)

    def explain(self, failure):
        """Why a run gave no figure, with programs by name: the report is read on other machines."""
        reason = str(failure.args[0] if isinstance(failure, Failure) else failure)
        for path in (self.arguments.programs, self.arguments.swift, self.arguments.python.parent):
            reason = reason.replace(f"{path}/", "")
        return reason

    def note_failure(self, measure, kind, name, number, failure):
        self.results.give_reason(measure.key, kind, name, self.explain(failure))
        if measure.is_program:  # no table has a row for it
            self.skipped[f"{name} on {kind}: {self.explain(failure)}"] = None
        for figures in failure.args[1:] if isinstance(failure, Failure) else []:
            self.add(measure, kind, name, number, figures)

    def list_own_failures(self):
        """Which of our programs gave no figure: each must work, however fast it is."""
        ours = {peer.name for peer, _ in self.pairs if peer.is_ours}
        return [f"failed: {name} on {kind}, {key}: {reason}"
                for (key, kind, name), reason in self.results.reasons.items() if name in ours]

    def start_bus(self, kind):
        self.n_buses += 1
        return Bus(kind, self.folder / f"bus{self.n_buses}", self.arguments.programs)


def main():
    arguments = parse_arguments()
    arguments.output.mkdir(parents=True, exist_ok=True)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(1))
    # In memory: the boards are files, and nothing should wait for a disk.
    base = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    folder = Path(tempfile.mkdtemp(prefix="dn-bench.", dir=base))
    try:
        comparison = Comparison(arguments, folder)
        comparison.run()
    finally:
        Child.stop_all()
        shutil.rmtree(folder, ignore_errors=True)
    report.write(comparison, arguments)
    if arguments.mode == "smoke" and (failures := comparison.list_own_failures()):
        sys.exit("\n".join(failures))


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
