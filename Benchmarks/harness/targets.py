"""Compares our figures with what the design promises; nothing fails for them."""

from dataclasses import dataclass

from measures import PINNED
from peers import BEFORE, DBUS, FLOOR, NONE, YARDSTICK
from tables import observer_bytes, observer_us

ONE_PROCESSOR = ", on one processor"


@dataclass(frozen=True)
class Target:
    """`value(results, kind)` is to be at most (or, if `is_least`, at least) `limit`."""

    title: str
    limit: float
    value: object
    is_least: bool = False


def at_most(title, limit, figure, peer, to=YARDSTICK):
    """Without a bus it must hold against the yardstick on both brokers."""
    return Target(f"{title}, to {to}", limit, lambda results, kind: max(
        results.ratios(figure, kind, peer, to), default=None))


def at_least(title, limit, figure, peer, to=YARDSTICK):
    return Target(f"{title}, to {to}", limit, lambda results, kind: min(
        results.ratios(figure, kind, peer, to), default=None), is_least=True)


def below(title, figure, peer, to, to_kind):
    """Of a contender that has no D-Bus."""
    return Target(f"{title}, to {to}", 1, lambda results, kind: results.ratio(
        figure, kind, peer, to, to_kind=to_kind))


def to_before(title, limit, figure, peer):
    """For runs that also measure another build."""
    return Target(f"{title}, to before", limit,
                  lambda results, kind: results.ratio(figure, kind, peer, peer + BEFORE))


def absolute(title, limit, figure, peer):
    return Target(title, limit, lambda results, kind: results.median(figure, kind, peer))


def many_names(results, kind):
    return results.ratio("names_10000", kind, "c-inline", "c-inline", "names_1")


def stalled_to_sustained(results, kind):
    return results.ratio("stalled", kind, "c-inline", to_figure="flood_1")


def observer_to_signal(results, kind):
    each, one = observer_us(results, kind, "c-inline"), results.median("latency", kind, "sd-bus")
    return each / one if each is not None and one else None


def bytes_of_observer(results, kind):
    return observer_bytes(results, kind, "c-inline")


def memory_more(results, kind):
    ours, other = (results.median("processes_10_pss", kind, peer)
                   for peer in ("c-thread", YARDSTICK))
    return None if ours is None or other is None else ours - other


def wakeups_of(*kinds):
    def value(results, kind):
        return results.median("wakeups", kind, "c-inline") if kind in kinds else None
    return value


INLINE, DEFAULT = "post to C callback, inline", "post to C callback, delivery thread"

POSTS = [
    at_most(INLINE, 0.15, "latency", "c-inline"),
    at_most(INLINE + ONE_PROCESSOR, 0.4, "latency" + PINNED, "c-inline"),
    at_most(INLINE + ", one session", 1.3, "latency_session", "c-inline", FLOOR),
    at_most(INLINE + ", first posts", 0.35, "latency_cold", "c-inline"),
    *(below(INLINE + where, "latency" + suffix, "c-inline", name, kind)
      for suffix, where in (("", ""), (PINNED, ONE_PROCESSOR))
      for name, kind in (("Redis", "redis"), ("socket", "socket"))),
    at_most(DEFAULT, 0.25, "latency", "c-thread"),
    at_most(DEFAULT, 1.5, "latency", "c-thread", "c-inline"),
    at_most("post to C callback, loop", 0.5, "latency", "c-loop"),
    at_most("post to Swift closure on a queue", 0.65, "latency", "swift-closure"),
    at_most("post to Swift sequence", 0.65, "latency", "swift-sequence"),
    at_most("post to Swift sequence, center's executor", 1.25, "latency", "swift-executor",
            "c-inline"),
    at_most("post to Swift sequence, main actor", 1.1, "latency", "swift-main-sequence",
            "swift-main-closure"),
    at_most("post until 100 processes have heard it", 0.6, "processes_100", "c-inline"),
    at_most("the same, Swift sequence on the center's executor", 1.3, "processes_100",
            "swift-executor", "c-inline"),
    at_most("processor time of a post to 100 processes", 0.4, "processes_100_cpu", "c-inline"),
    at_most("the same, delivery thread", 0.6, "processes_100_cpu", "c-thread"),
    at_most("processor time of a post, all processes", 0.65, "cpu", "c-inline"),
    absolute("sleeps of an observing process for a post, delivery thread", 1.2, "cpu_sleeps",
             "c-thread"),
    at_least("posts per second, one name", 20, "flood_1", "c-inline"),
    at_least("posts per second, 16 names in turn", 3, "flood_16", "c-inline"),
    to_before("processor time of a post, poster", 1.05, "cpu_poster", "c-inline"),
    Target("memory of one of ten observing processes, KiB more than sd-bus", 64, memory_more),
    Target("posts per second to a stalled bus, to the sustained rate of sd-bus", 20,
           stalled_to_sustained, is_least=True),
    Target("post with 10,000 observed names, to 1 name", 1.1, many_names),
    Target("each further observer with its callback, to a post over sd-bus", 0.01,
           observer_to_signal),
    Target("memory of an observer, bytes", 200, bytes_of_observer),
    Target("wake-ups a minute with 1,000 observers", 0, wakeups_of(*DBUS)),
    Target("wake-ups a minute with 1,000 observers, which look for their table", 12,
           wakeups_of(NONE)),
]

INFO = [
    *(at_most(f"post with a user info of five keys: {what}{where}", 2, "info" + suffix,
              f"userInfo, {what}", "sd-bus with user info")
      for what in (".inline", ".queue", "sequence")
      for suffix, where in (("", ""), (PINNED, ONE_PROCESSOR))),
    Target("posts per second with a user info of five keys", 10000,
           lambda results, kind: results.median("info_flood", kind, "userInfo, .queue"),
           is_least=True),
    absolute("such posts that are lost, %", 0, "info_flood_lost", "userInfo, .queue"),
]

MESSAGES = [
    *(at_most(f"message of 100 bytes: pass {what}", 1.5, "small", f"pass {what}",
              "write, rename, signal, read")
      for what in ("Data, .inline", "Data, .queue", "Codable, .inline", "Codable, .queue")),
    at_most("message of 64 KiB: pass Data, .inline", 1, "medium", "pass Data, .inline",
            "write, rename, signal, read"),
    *(at_least(title, 0.6, figure, "pass Data, last 100 000", "INSERT")
      for title, figure in (("history", "log"), ("history, one listens", "log_heard"),
                            ("history that waits for the disk", "durable"),
                            ("history that waits for the disk, one listens", "durable_heard"))),
]

CALLS = [
    at_most("notify_check", 4, "calls", "notify_check", "an empty call"),
    at_most("notify_get_state", 10, "calls", "notify_get_state", "an empty call"),
    at_most("notify_set_state", 10, "calls", "notify_set_state", "an empty call"),
    at_most("register and cancel a check, name known", 1 / 50, "calls",
            "register and cancel a check", "a round trip to the bus"),
    at_most("a request until its answer", 1.3, "request", "dn_call", "sd_bus_call"),
    at_most("a request until its answer", 1, "request", "dn_call", "GDBus"),
    at_most("a request until its answer", 1, "request", "dn_call", "dbus-fast"),
    at_least("requests a second, 1 000 in flight", 0.8, "requests_flood", "dn_call",
             "sd_bus_call"),
]

DELEGATION = [
    at_most("a call of ten delegates", 2, "events", "MulticastDelegate",
            "a loop over weak references"),
    at_most("a call of ten delegates", 1, "events", "MulticastDelegate", "NotificationCenter"),
    absolute("a request, ns more than a direct async call", 50000, "sends_over", "HandlerBus"),
    at_most("a call through a façade", 2, "contracts", "Facade", "a call through an existential"),
    *(at_most(f"{title} among 10,000", 1.1, figure, f"{name}, one of 10,000", name)
      for title, figure, name in (("a multicast", "events", "MulticastDelegate"),
                                  ("a type of request", "sends", "HandlerBus"),
                                  ("a contract", "contracts", "Facade"))),
]

TARGETS = POSTS + INFO + MESSAGES + CALLS + DELEGATION


def judge(results):
    """Returns what is shown: title, broker, limit, value, whether it holds."""
    rows = []
    for target in TARGETS:
        for kind in (*DBUS, NONE):
            value = target.value(results, kind)
            if value is not None:
                holds = value >= target.limit if target.is_least else value <= target.limit
                rows.append((target.title, kind, ("≥ " if target.is_least else "≤ ")
                             + f"{target.limit:g}", value, holds))
    return rows
