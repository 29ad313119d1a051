"""Lists the contenders, and the programs that print their results themselves."""

import os
from dataclasses import dataclass, field
from pathlib import Path

DBUS = ("daemon", "broker")
NONE = "none"  # no bus at all
OURS = (*DBUS, NONE)
YARDSTICK = "sd-bus"
FLOOR = "futex"  # what waking another process costs at least
STYLES = ("yardstick", "ours", "other")  # in the order of the rows of a table
BEFORE = " before"  # marks the contenders that another build of the library has


@dataclass(frozen=True)
class Peer:
    """A contender: how it is shown, how it is run, over which brokers, in which measures."""

    name: str
    command: tuple
    kinds: tuple = DBUS
    group: str = "posts"  # of the measures that it takes part in
    style: str = "other"
    can_observe: bool = True
    env: dict = field(default_factory=dict, hash=False)
    only: str = ""  # how the names of its measures begin

    @property
    def is_ours(self):
        return self.style == "ours"

    @property
    def is_yardstick(self):
        return self.style == "yardstick"

    def program(self):
        """What contenders have in common that differ in an argument."""
        return self.command[0], *(word for word in self.command if word.endswith(".py"))

    def find_missing(self):
        """The first file of its command that is not there, by its name."""
        return next((os.path.basename(word) + (BEFORE if self.name.endswith(BEFORE) else "")
                     for word in self.command if os.sep in word and not os.path.exists(word)), None)


def list_peers(arguments):
    """All contenders, built or not."""
    c, swift, against = arguments.programs, arguments.swift, arguments.against
    peers = [*list_ours(c, swift), *list_others(c, arguments.python), *list_by_hand(c)]
    if against:
        peers += list_ours(against / "c", against / "swift" / "release", BEFORE)
    return peers


def list_ours(c, swift, suffix=""):
    def ours(name, group, *command, kinds=OURS, can_observe=True, only=""):
        return Peer(name + suffix, tuple(map(str, command)), kinds, group, "ours", can_observe,
                    only=only)

    yield from (ours(f"userInfo, {title}", "info", swift / "peer-distributed", kind, kinds=DBUS)
                for kind, title in (("inline", ".inline"), ("closure", ".queue"),
                                    ("sequence", "sequence")))
    wormhole = swift / "peer-wormhole"
    yield from (ours(f"c-{kind}", "posts", c / "peer-darwin", kind)
                for kind in ("inline", "thread", "loop"))
    yield from (ours(f"swift-{kind}", "posts", swift / "peer-swift", kind)
                for kind in ("inline", "executor", "closure", "sequence"))
    yield from (ours(f"swift-{kind}", "posts", swift / "peer-swift", kind, only="latency")
                for kind in ("main-closure", "main-sequence"))
    for group, n_bytes, kinds in (("small", 100, ("inline", "queue")),
                                  ("medium", 64 << 10, ("inline", "queue")),
                                  ("large", 1 << 20, ("inline",))):
        yield from (ours(f"pass Data, .{kind}", group, wormhole, "newest", kind, n_bytes)
                    for kind in kinds)
    yield from (ours(f"pass Codable, .{kind}", "small", wormhole, "newest", kind, "reading")
                for kind in ("inline", "queue"))
    yield ours("pass Data, newest", "files", wormhole, "newest", "inline", 100)
    yield ours("change of one value", "defaults", wormhole, "defaults", "-", "-", can_observe=False)
    yield ours("pass Data, last 100 000", "log", wormhole, "log", "inline", 100)
    yield ours("pass Data, last 100 000", "durable", wormhole, "durable", "inline", 100)
    yield ours("<notify.h>", "calls", c / "notify-calls", kinds=DBUS)
    yield ours("requests", "requests", c / "request-calls", kinds=DBUS)
    yield ours("Delegation", "delegation", swift / "delegation-figures", kinds=(NONE,),
               can_observe=False)


def list_others(c, python):
    benchmarks = Path(__file__).resolve().parent.parent

    def by_python(name, *words, **more):
        return Peer(name, (str(python), *map(str, words)), **more)
    here, calls = benchmarks / "peers" / "python", benchmarks / "calls"
    return [
        Peer(YARDSTICK, (str(c / "peer-sd-bus"),), style="yardstick"),
        Peer("sd-bus with body", (str(c / "peer-sd-bus"), "body"), style="yardstick"),
        Peer("sd-bus with user info", (str(c / "peer-sd-bus"), "info"), group="info",
             style="yardstick"),
        Peer(FLOOR, (str(c / "peer-futex"),), OURS, style="yardstick", only="latency"),
        Peer("libdbus", (str(c / "peer-libdbus"),)),
        Peer("GDBus", (str(c / "peer-gdbus"),)),
        Peer("sdbus-c++", (str(c / "peer-sdbus-c++"),)),
        by_python("dbus-fast", here / "dbus_fast_peer.py"),
        by_python("iceoryx2 (Python)", here / "iceoryx2_peer.py", kinds=(NONE,), only="latency"),
        by_python("python-inline", here / "darwin_peer.py",
                  c / "library" / "libdarwinnotify.so.1", kinds=OURS, style="ours",
                  only="latency"),
        Peer("GNUstep", (str(c / "peer-gnustep"),), ("gdnc",)),
        Peer("mosquitto", (str(c / "peer-mosquitto"),), ("mosquitto",)),
        Peer("Redis", (str(c / "peer-redis"),), ("redis",)),
        Peer("socket", (str(c / "peer-socket"),), ("socket",)),
        Peer("requests by GDBus", (str(c / "gdbus-calls"),), group="requests"),
        Peer("requests by sdbus-c++", (str(c / "sdbus-calls"),), group="requests"),
        by_python("requests by dbus-fast", calls / "dbus_fast_calls.py", group="requests"),
    ]


def list_by_hand(c):
    def by_hand(name, group, kind, n_bytes=100, env=None):
        return Peer(name, (str(c / "peer-by-hand"), kind, str(n_bytes)), group=group,
                    style="yardstick", env=env or {})

    durable = {"BENCH_DURABLE": "1"}
    yield from (by_hand("write, rename, signal, read", group, "file", n_bytes)
                for group, n_bytes in (("small", 100), ("medium", 64 << 10), ("large", 1 << 20)))
    yield by_hand("write, rename, signal", "files", "file")
    yield by_hand("INSERT", "defaults", "insert")
    for group, env in (("log", None), ("durable", durable)):
        yield by_hand("INSERT", group, "insert", env=env)
        yield by_hand("INSERT, signal", group, "insert-signal", env=env)
