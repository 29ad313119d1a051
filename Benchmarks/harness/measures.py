"""Lists what is measured, with how a run gives its figures."""

import json
import operator
import statistics
import time
from dataclasses import dataclass

from processes import Failure, count_switches, read_memory
from runs import N_WARM_UP, Posts

MODES = ("smoke", "quick", "full")
PINNED = "_pinned"  # ends the names of figures for which all processes were on one processor


@dataclass(frozen=True)
class Measure:
    """`run(run, amount)` returns one number, or a list of samples, for each figure."""

    key: str
    run: object
    amounts: tuple  # for each of MODES; 0: left out
    rounds: tuple = (1, 2, 5)
    group: str = "posts"  # of the contenders that take part
    n_slots: int = 1
    spoils_bus: bool = False
    is_together: bool = False
    is_pinned: bool = False  # all processes on one processor
    is_one_session: bool = False  # for the scheduler, which else gives each process a fair share
    is_program: bool = False  # the figures are by contender
    is_heard: bool = True  # there are receivers
    needs_bus: bool = False


def microseconds(times_ns):
    return [ns / 1000 for ns in times_ns]


def latency(key, **how):
    def run_latency(run, n_posts):
        run.receive()
        posts = run.time_posts(n_posts, **how)
        n_early = sum(map(operator.le, posts.heard_ns, posts.returned_ns))
        return {key: microseconds(posts.heard_ns),
                f"{key}_returned": microseconds(posts.returned_ns),
                f"{key}_early": 100 * n_early / len(posts.heard_ns)}
    return run_latency


def run_round_trip(run, n_posts):
    run.start("echo", run.prefix)
    asker = run.start("roundtrip", n_posts, run.prefix)
    return {"round_trip": microseconds(map(int, asker.run()))}


def flood_names(n_names, is_each):
    def run_flood(run, duration_ms):
        run.receive(n_names=n_names)
        flood = run.flood(duration_ms, n_names, is_each=is_each)
        key = f"flood_{n_names}"
        return {key: flood.heard_per_s, f"{key}_calls": flood.calls_per_s,
                f"{key}_posted": flood.posted_per_s, f"{key}_lost": flood.lost}
    return run_flood


def run_info_flood(run, duration_ms):
    run.receive()
    flood = run.flood(duration_ms, 1)
    return {"info_flood": flood.heard_per_s, "info_flood_lost": flood.lost}


def run_cpu(run, duration_ms):
    run.receive(n_names=16)
    flood = run.flood(duration_ms, 16, pause_us=1000)
    cpu_us = flood.cpu_us
    return {"cpu": sum(cpu_us.values()), "cpu_ends": cpu_us["poster"] + cpu_us["receiver"],
            "cpu_sleeps": flood.sleeps, **{f"cpu_{who}": us for who, us in cpu_us.items()}}


def names(n_names):
    def run_names(run, n_posts):
        receiver = run.receive(n_names=n_names)
        _, anonymous = read_memory(receiver.pid)
        return {f"names_{n_names}": microseconds(run.time_posts(n_posts).heard_ns),
                f"names_{n_names}_heap": anonymous}
    return run_names


def observers(n_observers):
    def run_observers(run, n_posts):
        receiver = run.receive(n_observers=n_observers)
        pss, anonymous = read_memory(receiver.pid)
        key = f"observers_{n_observers}"
        memory = {f"{key}_pss": pss / 1024, f"{key}_heap": anonymous}
        try:
            return {key: microseconds(run.time_posts(n_posts, n_observers).heard_ns), **memory}
        except Failure as failure:
            raise Failure(*failure.args, memory) from failure
    return run_observers


def processes(n_processes):
    def run_processes(run, n_posts):
        run.receive(n_processes=n_processes)
        before_ns = run.read_fan_out_cpu_ns()
        posts = run.time_posts(n_posts)
        cpu_ns = ((run.read_fan_out_cpu_ns() - before_ns) / (n_posts + N_WARM_UP)
                  + statistics.mean(posts.cpu_ns))
        pss = [read_memory(receiver.pid)[0] for receiver in run.receivers]
        key = f"processes_{n_processes}"
        return {key: microseconds(posts.heard_ns), f"{key}_cpu": cpu_ns / 1000,
                f"{key}_pss": sum(pss) / n_processes / 1024}
    return run_processes


def run_stalled(run, duration_ms):
    run.receive()  # DarwinNotify only counts posts that somebody observes
    n_posts, ns, before, after, outcome = run.stall(duration_ms)
    figures = {"stalled_memory": (after - before) / 2**20}
    if outcome in ("blocked", "refused"):
        raise Failure(f"{outcome} after {n_posts} posts", figures)
    return {"stalled": n_posts / ns * 1e9, **figures}


def run_idle(run, _):
    """Only starts: all contenders idle at the same time, see count_wakeups()."""
    return run.receive(n_observers=1000)


def count_wakeups(receivers, duration_s):
    """Wake-ups a minute of processes that have nothing to do."""
    time.sleep(0.5)
    before = [count_switches(receiver.pid) for receiver in receivers]
    time.sleep(duration_s)
    for receiver, earlier in zip(receivers, before):
        # Threads that have ended meanwhile are not counted.
        n = sum(count - earlier.get(thread, 0)
                for thread, count in count_switches(receiver.pid).items())
        yield n * 60 / duration_s


def run_first(run, _):
    run.receive()
    ns = run.time_first()
    if ns is None:
        raise Failure("the post was not heard")
    return {"first": ns / 1e6}


def rate(key, is_heard=False):
    """Messages a second until the last pass returns; what nobody hears needs no receiver."""
    def run_rate(run, duration_ms):
        if is_heard and run.peer.is_ours:
            run.receive()
        flood = run.flood(duration_ms, 1)
        if run.receivers and flood.lost == 100:
            raise Failure("no message was heard")
        return {key: flood.posted_per_s}
    return run_rate


def run_program(run, mode):
    """A program that prints its figures itself (see ../README.md): by contender, by figure."""
    figures = {}
    for line in run.spawn(mode).read_to_end(300):
        try:
            line = json.loads(line)
            samples = line["samples"] if "samples" in line else [line["value"]]
            figures.setdefault(line["contender"], {}).setdefault(line["figure"], []).extend(samples)
        except (ValueError, KeyError, TypeError) as error:
            raise Failure(f"printed {line!r}") from error
    return figures


def both(key, run, *args, pinned_rounds=(1, 1, 3), **more):
    """The same with the processes spread by the kernel, and with all on one processor."""
    return [Measure(key, run, *args, **more),
            Measure(key + PINNED, run, args[0], pinned_rounds, is_pinned=True, **more)]


RATE_MS = (20, 150, 300)

MEASURES = [
    # How fast two processes reach each other depends on where the kernel puts them: many short
    # runs, and the same on one processor, where small differences stand out from chance.
    *both("latency", latency("latency", n_warm_up=200), (3, 50, 100), (1, 5, 11),
          pinned_rounds=(1, 3, 7)),
    Measure("latency_session", latency("latency_session", n_warm_up=200), (3, 50, 60), (1, 3, 5),
            is_one_session=True),
    Measure("latency_cold", latency("latency_cold", rest_us=10000), (3, 15, 25), (1, 3, 7)),
    Measure("round_trip", run_round_trip, (3, 150, 400), (1, 3, 15)),
    *both("flood_16", flood_names(16, is_each=True), (20, 150, 500)),
    *both("flood_1", flood_names(1, is_each=False), (20, 150, 500), (1, 1, 5)),
    *both("cpu", run_cpu, (20, 150, 500), (1, 1, 5)),
    Measure("names_1", names(1), (3, 50, 100), (1, 1, 3), is_pinned=True),
    Measure("names_100", names(100), (3, 50, 100), (1, 1, 3), is_pinned=True),
    Measure("names_10000", names(10000), (0, 0, 100), (1, 1, 3), is_pinned=True),
    Measure("observers_1", observers(1), (3, 50, 100), (1, 1, 3)),
    Measure("observers_1000", observers(1000), (3, 20, 50), (1, 1, 3)),
    Measure("observers_10000", observers(10000), (0, 10, 0), (1, 1, 0)),
    Measure("observers_100000", observers(100000), (0, 0, 10), (1, 1, 1)),
    *both("processes_10", processes(10), (2, 20, 50), (1, 3, 9), n_slots=10),
    *both("processes_100", processes(100), (0, 0, 20), (1, 1, 5), pinned_rounds=(1, 1, 1),
          n_slots=100),
    Measure("stalled", run_stalled, (20, 150, 500), (1, 1, 2), spoils_bus=True, needs_bus=True),
    Measure("wakeups", run_idle, (1, 5, 60), (1, 1, 1), is_together=True),
    Measure("first", run_first, (1, 1, 1), (1, 2, 11)),
    *both("info", latency("info"), (3, 50, 60), (1, 5, 25), pinned_rounds=(1, 3, 9), group="info"),
    Measure("info_flood", run_info_flood, (20, 150, 500), group="info"),
    Measure("small", latency("small"), (3, 40, 40), (1, 2, 15), "small"),
    Measure("medium", latency("medium"), (3, 40, 40), (1, 2, 15), "medium"),
    Measure("large", latency("large"), (3, 20, 20), (1, 1, 7), "large"),
    *(Measure(group + suffix, rate(group + suffix, bool(suffix)), RATE_MS, (1, 2, 8), group,
              is_heard=bool(suffix))
      for group, suffix in (("files", ""), ("defaults", ""), ("log", ""), ("log", "_heard"),
                            ("durable", ""), ("durable", "_heard"))),
    Measure("calls", run_program, MODES, (1, 1, 15), "calls", is_program=True),
    Measure("requests", run_program, MODES, (1, 3, 15), "requests", is_program=True),
    Measure("delegation", run_program, MODES, (1, 1, 5), "delegation", is_program=True,
            is_heard=False),
]
