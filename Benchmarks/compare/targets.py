"""Compares our figures with what the design promises; nothing fails for them."""

from dataclasses import dataclass

from tables import observer_bytes, observer_us


@dataclass(frozen=True)
class Target:
    """`value(results, kind)` is to be at most (or, if `is_least`, at least) `limit`."""

    title: str
    limit: float
    value: object
    is_least: bool = False


def to_yardstick(figure, peer):
    return lambda results, kind: results.ratio_to_yardstick(figure, kind, peer)


def to_same_signal(figure):
    return lambda results, kind: results.ratio(figure, kind, "c-inline",
                                               to_peer="sd-bus with body")


def many_names(results, kind):
    return results.ratio("names_10000", kind, "c-inline", "names_1", kind, "c-inline")


def stalled_to_sustained(results, kind):
    return results.ratio("stalled", kind, "c-inline", "flood_1")


def observer_to_signal(results, kind):
    each, one = observer_us(results, kind, "c-inline"), results.median("latency", kind, "sd-bus")
    return each / one if each is not None and one else None


def bytes_of_observer(results, kind):
    return observer_bytes(results, kind, "c-inline")


def wakeups(results, kind):
    return results.median("wakeups", kind, "c-inline")


TARGETS = [
    *(target for figure, where in (("latency", ""), ("latency_pinned", ", on one processor"))
      for target in (
          Target(f"post to C callback, inline, to sd-bus{where}", 1.05,
                 to_yardstick(figure, "c-inline")),
          Target(f"post to C callback, inline, to sd-bus with the same body{where}", 1.05,
                 to_same_signal(figure)),
          Target(f"post to C callback, delivery thread, to sd-bus{where}", 1.4,
                 to_yardstick(figure, "c-thread")),
          Target(f"post to Swift closure on a queue, to sd-bus{where}", 1.6,
                 to_yardstick(figure, "swift-closure")))),
    Target("posts per second, 16 names in turn, each sent, to sd-bus", 0.95,
           to_yardstick("flood_16", "c-inline"), is_least=True),
    Target("posts per second to a stalled bus, to the sustained rate of sd-bus", 20,
           stalled_to_sustained, is_least=True),
    Target("post with 10,000 observed names, to 1 name", 1.1, many_names),
    Target("each further observer with its callback, to a post over sd-bus", 0.01,
           observer_to_signal),
    Target("memory of an observer, bytes", 200, bytes_of_observer),
    Target("wake-ups a minute with 1,000 observers", 0, wakeups),
]

# What notify-figures prints: its line, its limit.
NOTIFY_TARGETS = {
    "notify_check, in empty calls": 4,
    "notify_get_state, in empty calls": 10,
    "notify_set_state, in empty calls": 10,
    "register and cancel a check, name known, in round trips": 1 / 50,
}


def judge(results, kinds, notify):
    """Returns what is shown: title, broker, limit, value, whether it holds."""
    rows = []
    for target in TARGETS:
        for kind in kinds:
            value = target.value(results, kind)
            if value is not None:
                holds = value >= target.limit if target.is_least else value <= target.limit
                rows.append((target.title, kind, ("≥ " if target.is_least else "≤ ")
                             + f"{target.limit:g}", value, holds))
    for kind, figures in notify.items():
        rows += [(line, kind, f"≤ {limit:g}", figures[line], figures[line] <= limit)
                 for line, limit in NOTIFY_TARGETS.items() if line in figures]
    return rows
