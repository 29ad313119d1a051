"""Lists the tables of the report: their columns, where each number comes from."""

from dataclasses import dataclass

from measures import PINNED
from peers import FLOOR, YARDSTICK

NAMES, OBSERVERS, PROCESSES = (1, 100, 10000), (1, 1000, 10000, 100000), (10, 100)


@dataclass(frozen=True)
class Column:
    """`value(results, kind, peer)` returns a number, None where there is none."""

    title: str
    value: object
    is_judged: bool = False  # whether to be ahead in it counts
    figure: str = ""  # whose median it is
    to: str = ""  # the contender that it is a ratio to


@dataclass(frozen=True)
class Table:
    """The first column that has numbers is drawn if there is a question for the chart."""

    key: str
    title: str
    columns: tuple
    note: str = ""
    measures: tuple = ()  # whose failures explain a missing number; default: the key
    is_more_better: bool = False
    group: str = "posts"
    question: str = ""  # that its chart answers

    def yardsticks(self):
        return {column.to for column in self.columns}

    def has_row(self, results, kind, peer):
        """Whether there is a number, or a reason why there is none."""
        return bool(self.reasons(results, kind, peer)) or any(
            column.value(results, kind, peer) is not None for column in self.columns)

    def reasons(self, results, kind, peer):
        return results.reasons_of(self.measures or (self.key,), kind, peer)


def median(figure, title="median", is_judged=True):
    return Column(title, lambda results, *who: results.median(figure, *who), is_judged, figure)


def tail(figure, percent=99):
    return Column(f"p{percent}", lambda results, *who: results.percentile(percent, figure, *who))


def spread(figure):
    return Column("±", lambda results, *who: results.spread(figure, *who))


def ratio(*figures, to=YARDSTICK):
    """To another contender, by the first of the figures that this run has."""
    def value(results, *who):
        numbers = (results.ratios(figure, *who, to) for figure in figures if results.has(figure))
        return next((each[0] for each in numbers if each), None)
    return Column(f"to {to}", value, to=to)


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


def growths(prefix, suffix, amounts):
    return first_of(*(growth(f"{prefix}_{n}{suffix}", f"{prefix}_1{suffix}", n - 1)
                      for n in sorted(amounts, reverse=True) if n > 1))


observer_bytes = growths("observers", "_heap", OBSERVERS)
observer_us = growths("observers", "", OBSERVERS)
name_bytes = growths("names", "_heap", NAMES)


def pinned(figure):
    return (median(figure + PINNED, "one processor"), ratio(figure + PINNED))


def post_columns(key):
    return (median(key), tail(key, 90), tail(key), ratio(key), spread(key), ratio(key, to=FLOOR),
            median(f"{key}_returned", "returns after", False),
            median(f"{key}_early", "heard before, %", False))


def flood_columns(key):
    return (median(key, "posts/s"), ratio(key), median(f"{key}_calls", "calls/s", False),
            median(f"{key}_lost", "lost %", False), *pinned(key))


def latency_of_messages(group, title, unit, **more):
    base = "write, rename, signal, read"
    return Table(group, f"{title}, {unit}", (median(group), tail(group), ratio(group, to=base)),
                 group=group, **more)


def rate_of_messages(key, title, base="INSERT", **more):
    return Table(key, f"{title}, messages per second", (median(key), ratio(key, to=base)),
                 is_more_better=True, group=key.removesuffix("_heard"), **more)


def calls_in_process(key, title, base, columns=()):
    return Table(key, f"{title}, ns", (median(key, is_judged=False), ratio(key, to=base), *columns),
                 measures=("delegation",), group="delegation")


POSTS = [
    Table("latency", "A post each millisecond until another process has heard it, warm, µs",
          (*post_columns("latency"), *pinned("latency"),
           median("latency_session", "one session"), ratio("latency_session", to=FLOOR)),
          "Warm: after 200 posts. ±: half of the rounds have a ratio to sd-bus that is closer than "
          "this. futex: two processes and a word, the floor. One session: for the scheduler all "
          "processes are one group; otherwise each is its own, as different programs are.",
          measures=("latency", "latency_pinned", "latency_session"),
          question="How fast is a post at rest?"),
    Table("latency_cold", "The first posts of a program, one each 10 ms, µs",
          post_columns("latency_cold"), "The first three do not count."),
    Table("round_trip", "Ping to another process until its pong, µs",
          (median("round_trip"), tail("round_trip"), ratio("round_trip"))),
    Table("flood_16", "Sustained posts per second, 16 names in turn, each sent by itself",
          flood_columns("flood_16"),
          "Posts until they are heard. A call of DarwinNotify may stand for several posts.",
          is_more_better=True, question="How fast are posts in a flood?"),
    Table("flood_1", "Sustained posts per second, one name", flood_columns("flood_1"),
          "DarwinNotify merges posts of one name while the bus is busy: each counts as heard, but "
          "there are fewer calls. All others call for each post.", is_more_better=True),
    Table("cpu", "Processor time of a post, one each millisecond, µs",
          (median("cpu", "all"), ratio("cpu"), median("cpu_poster", "poster"),
           median("cpu_bus", "broker"), median("cpu_receiver", "receiver"),
           median("cpu_ends", "poster and receiver", False),
           median("cpu_sleeps", "sleeps of the receiver", False), *pinned("cpu")),
          measures=("cpu", "cpu_pinned")),
    Table("names", "A post until it is heard where many names are observed, on one processor, µs",
          (*(median(f"names_{n}", f"{n:,}") for n in reversed(NAMES)),
           ratio(*(f"names_{n}" for n in reversed(NAMES)))),
          measures=tuple(f"names_{n}" for n in NAMES), question="What do 10,000 names cost?"),
    Table("processes", "A post until many processes have heard it, µs",
          (*(median(f"processes_{n}", f"{n}") for n in reversed(PROCESSES)),
           ratio("processes_100", "processes_10"),
           *(column for n in reversed(PROCESSES) for column in (
               median(f"processes_{n}_cpu", f"processor time, {n}"),
               ratio(f"processes_{n}_cpu"))),
           *(column for n in reversed(PROCESSES) for column in pinned(f"processes_{n}"))),
          "Processor time: of the post, the broker and all receivers, for one post. The last columns "
          "are of 100 processes, then of 10, on one processor.",
          tuple(f"processes_{n}" for n in PROCESSES), question="What do 100 processes cost?"),
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
           median("processes_10_pss", "one of ten"),
           Column("each observer, bytes", observer_bytes, True),
           Column("each name, bytes", name_bytes, True),
           median("wakeups", "wake-ups a minute")),
          "Proportional set size: of one observing process, and of each of ten, which share "
          "what they map. Wake-ups: with 1,000 observers.",
          ("observers", "names", "wakeups"),
          question="How much memory does an observing process take?"),
    Table("first", "Starting a process until its first post is heard, ms",
          (median("first"), ratio("first")), question="How long does the first post take?"),
]

INFO = [
    Table("info", "A post with a user info of five keys until another process has read it, µs",
          (median("info"), tail("info"), ratio("info", to="sd-bus with user info"),
           median("info" + PINNED, "one processor"),
           ratio("info" + PINNED, to="sd-bus with user info")),
          measures=("info", "info_pinned"), group="info"),
    Table("info_flood", "Sustained posts per second with a user info of five keys",
          (median("info_flood", "posts/s"), ratio("info_flood", to="sd-bus with user info"),
           median("info_flood_lost", "lost %", False)),
          is_more_better=True, group="info"),
]

MESSAGES = [
    latency_of_messages("small", "A message of 100 bytes until another process has read it", "µs",
                        question="How fast is a message?"),
    latency_of_messages("medium", "A message of 64 KiB until another process has read it", "µs"),
    latency_of_messages("large", "A message of 1 MiB until another process has read it", "µs"),
    rate_of_messages("files", "A name that keeps one message, to which nobody listens",
                     "write, rename, signal"),
    rate_of_messages("defaults", "Defaults that nobody listens to"),
    rate_of_messages("log", "A name that keeps 100,000 messages", question="How fast is a history?"),
    rate_of_messages("log_heard", "The same, to which another process listens",
                     note="Only those of Wormhole are heard."),
    rate_of_messages("durable", "The same, waiting for the disk"),
    rate_of_messages("durable_heard", "The same, waiting for the disk, to which another process listens",
                     note="Only those of Wormhole are heard."),
]

PROGRAMS = [
    Table("calls", "Calls of `<notify.h>`, ns",
          (median("calls", is_judged=False), ratio("calls", to="an empty call"),
           ratio("calls", to="a round trip to the bus"),
           median("calls_growth", "memory grows by KiB", False)),
          group="calls"),
    Table("request", "A request to another process until its answer, µs",
          (median("request", is_judged=False), ratio("request", to="sd_bus_call")),
          measures=("requests",), group="requests"),
    Table("requests_flood", "Requests answered per second, 1 000 in flight",
          (median("requests_flood", is_judged=False), ratio("requests_flood", to="sd_bus_call")),
          is_more_better=True, measures=("requests",), group="requests"),
    calls_in_process("events", "A call of ten delegates", "a loop over weak references",
                     (ratio("events", to="NotificationCenter"),)),
    calls_in_process("sends", "A request until it is answered", "a direct async call",
                     (median("sends_over", "more than that", False),)),
    calls_in_process("contracts", "A call of a contract's implementation",
                     "a call through an existential"),
]

TABLES = POSTS + INFO + MESSAGES + PROGRAMS
