"""Lists the tables of the report: their columns, where each number comes from."""

from dataclasses import dataclass

NAMES, OBSERVERS, PROCESSES = (1, 100, 10000), (1, 1000, 10000, 100000), (10, 100)


@dataclass(frozen=True)
class Column:
    """`value(results, kind, peer)` returns a number, None where there is none."""

    title: str
    value: object
    is_judged: bool = False  # whether to be ahead in it counts


@dataclass(frozen=True)
class Table:
    """The first column is drawn, too, and compared with the yardstick."""

    key: str
    title: str
    columns: tuple
    note: str = ""
    measures: tuple = ()  # whose failures explain a missing number; default: the key
    is_more_better: bool = False


def median(figure, title=None, is_judged=True):
    return Column(title or "median", lambda results, *who: results.median(figure, *who),
                  is_judged)


def tail(figure):
    return Column("p99", lambda results, *who: results.p99(figure, *who))


def ratio(*figures):
    """To the yardstick, by the first of the figures that this run has."""
    def value(results, *who):
        numbers = (results.ratio_to_yardstick(figure, *who) for figure in figures
                   if results.has(figure))
        return next(numbers, None)
    return Column("to sd-bus", value)


def growth(figure, base, n):
    """What each one more costs: the difference of two medians, by n."""
    def value(results, *who):
        high, low = results.median(figure, *who), results.median(base, *who)
        return None if high is None or low is None else (high - low) / n
    return value


def first_of(*values):
    """The first that there is a number for: not all amounts are measured in each mode."""
    def value(results, *who):
        numbers = (value(results, *who) for value in values)
        return next((number for number in numbers if number is not None), None)
    return value


def flood_columns(key):
    return (median(key, "posts/s"), ratio(key), median(f"{key}_calls", "calls/s", False),
            median(f"{key}_lost", "lost %", False))


def growths(prefix, suffix, amounts):
    return first_of(*(growth(f"{prefix}_{n}{suffix}", f"{prefix}_1{suffix}", n - 1)
                      for n in sorted(amounts, reverse=True) if n > 1))


observer_bytes = growths("observers", "_heap", OBSERVERS)
observer_us = growths("observers", "", OBSERVERS)
name_bytes = growths("names", "_heap", NAMES)

TABLES = [
    Table("latency", "A post at rest until another process has heard it, µs",
          (median("latency"), tail("latency"), ratio("latency"),
           median("latency_pinned", "on one processor"), ratio("latency_pinned")),
          measures=("latency", "latency_pinned")),
    Table("round_trip", "Ping to another process until its pong, µs",
          (median("round_trip"), tail("round_trip"), ratio("round_trip"))),
    Table("flood_16", "Sustained posts per second, 16 names in turn, each sent by itself",
          flood_columns("flood_16"),
          "Posts until they are heard. A call of DarwinNotify may stand for several posts.",
          is_more_better=True),
    Table("flood_1", "Sustained posts per second, one name", flood_columns("flood_1"),
          "DarwinNotify merges posts of one name while the bus is busy: each counts as heard, but "
          "there are fewer calls. All others call for each post.", is_more_better=True),
    Table("cpu", "Processor time of a post, one each millisecond, µs",
          (median("cpu", "all"), ratio("cpu"), median("cpu_poster", "poster"),
           median("cpu_bus", "broker"), median("cpu_receiver", "receiver"))),
    Table("names", "A post until it is heard where many names are observed, on one processor, µs",
          (*(median(f"names_{n}", f"{n:,}") for n in reversed(NAMES)),
           ratio(*(f"names_{n}" for n in reversed(NAMES)))),
          measures=tuple(f"names_{n}" for n in NAMES)),
    Table("processes", "A post until many processes have heard it, µs",
          (*(median(f"processes_{n}", f"{n}") for n in reversed(PROCESSES)),
           ratio("processes_100", "processes_10"),
           *(median(f"processes_{n}_cpu", f"processor time, {n}") for n in reversed(PROCESSES))),
          "Processor time: of the broker with all receivers, for one post.",
          tuple(f"processes_{n}" for n in PROCESSES)),
    Table("observers", "A post until many observers in one process have heard it, µs",
          (*(median(f"observers_{n}", f"{n:,}") for n in reversed(OBSERVERS)),
           ratio(*(f"observers_{n}" for n in reversed(OBSERVERS))),
           Column("each one more", observer_us, True)),
          measures=tuple(f"observers_{n}" for n in OBSERVERS)),
    Table("stalled", "Posts per second of one name while the broker is stopped",
          (median("stalled", "posts/s taken"), ratio("stalled"),
           median("stalled_memory", "memory grows by MiB", False)), is_more_better=True),
    Table("memory", "Memory, when idle",
          (median("observers_1_pss", "process KiB"), ratio("observers_1_pss"),
           Column("each observer, bytes", observer_bytes, True),
           Column("each name, bytes", name_bytes, True),
           median("wakeups", "wake-ups a minute")),
          "Proportional set size. Wake-ups: with 1,000 observers.",
          ("observers", "names", "wakeups")),
    Table("first", "Starting a process until its first post is heard, ms",
          (median("first"), ratio("first"))),
]
