"""Describes where the figures were taken: machine, versions, sizes of programs."""

import os
import platform
import re
import subprocess
from pathlib import Path

VERSION_COMMANDS = {
    "dbus-daemon": ["dbus-daemon", "--version"],
    "dbus-broker": ["dbus-broker", "--version"],
    "mosquitto": ["mosquitto", "-h"],
    "redis-server": ["redis-server", "--version"],
}
PKG_CONFIG_NAMES = {
    "sd-bus": "libsystemd", "libdbus": "dbus-1", "GDBus": "gio-2.0", "sdbus-c++": "sdbus-c++",
    "libmosquitto": "libmosquitto", "hiredis": "hiredis",
}


def first_line(command):
    path = os.environ["PATH"] + ":/usr/sbin"
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False,
                              env=dict(os.environ, PATH=path))
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return (done.stdout or done.stderr).strip().partition("\n")[0]


def describe():
    info = Path("/proc/cpuinfo").read_text(errors="replace")
    model = re.search(r"^model name\s*:\s*(.*)$", info, re.MULTILINE)
    return {
        "processor": model.group(1) if model else platform.machine(),
        "processors": len(os.sched_getaffinity(0)),
        "kernel": platform.release().partition("-")[0],
        "load": round(os.getloadavg()[0], 2),
    }


def list_versions(python):
    versions = {name: re.sub(r"[^0-9]*([0-9][0-9.]*).*", r"\1", first_line(command))
                for name, command in VERSION_COMMANDS.items()}
    versions |= {name: first_line(["pkg-config", "--modversion", library])
                 for name, library in PKG_CONFIG_NAMES.items()}
    versions |= {package: first_line([
        python, "-c", f"import importlib.metadata as m; print(m.version('{package}'))"])
        for package in ("dbus-fast", "iceoryx2")}
    return {name: version for name, version in versions.items()
            if re.fullmatch(r"[0-9][0-9.]*", version)}


def list_sizes(programs, swift):
    """Bytes of files, without debugging information."""
    files = [*(swift / name for name in ("swift-poster", "peer-swift")),
             *sorted((programs / "library").glob("libdarwinnotify.so.*.*"))]
    sizes = {}
    for path in files:
        if path.exists():
            sections = subprocess.run(["size", "-A", str(path)], capture_output=True, text=True,
                                      check=False).stdout
            sizes[path.name] = sum(int(size) for name, size in
                                   re.findall(r"^(\.\S+)\s+(\d+)", sections, re.MULTILINE)
                                   if not name.startswith((".debug", ".bss", ".comment")))
    return sizes
