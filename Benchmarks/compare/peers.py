"""Lists the contenders."""

import os
from dataclasses import dataclass
from pathlib import Path

DBUS = ("daemon", "broker")
YARDSTICK = "sd-bus"


@dataclass(frozen=True)
class Peer:
    """A contender: how it is shown, how it is run, over which brokers."""

    name: str
    command: tuple
    kinds: tuple = DBUS
    is_ours: bool = False
    is_yardstick: bool = False

    def is_built(self):
        return all(os.path.exists(word) for word in self.command if os.sep in str(word))


def list_peers(folder, swift_folder, python):
    """All contenders, built or not: folder of the C programs, of the Swift program, Python."""
    c, swift = Path(folder), Path(swift_folder)
    here = Path(__file__).resolve().parent.parent / "peers"
    ours = [("c-inline", "inline"), ("c-thread", "thread"), ("c-loop", "loop")]
    return [
        Peer(YARDSTICK, (str(c / "peer-sd-bus"),), is_yardstick=True),
        Peer("sd-bus with body", (str(c / "peer-sd-bus"), "body"), is_yardstick=True),
        *(Peer(name, (str(c / "peer-darwin"), kind), is_ours=True) for name, kind in ours),
        *(Peer(f"swift-{kind}", (str(swift / "peer-swift"), kind), is_ours=True)
          for kind in ("closure", "sequence")),
        Peer("libdbus", (str(c / "peer-libdbus"),)),
        Peer("GDBus", (str(c / "peer-gdbus"),)),
        Peer("sdbus-c++", (str(c / "peer-sdbus-c++"),)),
        Peer("dbus-fast", (str(python), str(here / "dbus-fast" / "peer_dbus_fast.py"))),
        Peer("GNUstep", (str(c / "peer-gnustep"),), ("gdnc",)),
        Peer("mosquitto", (str(c / "peer-mosquitto"),), ("mosquitto",)),
        Peer("Redis", (str(c / "peer-redis"),), ("redis",)),
        Peer("socket", (str(c / "peer-socket"),), ("socket",)),
    ]
