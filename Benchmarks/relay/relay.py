"""Measures notifyrelay beside mosquitto_pub and mosquitto_sub, on one broker.

Two sessions, each with a message bus, stand for two machines. A post is made in this process, through
the C library of one session; it is heard by notifyutil in the other. For comparison a line is
written to mosquitto_pub, which publishes it with QoS 1, and read from mosquitto_sub.
"""

import argparse
import ctypes
import json
import os
import pathlib
import random
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

NAME = "com.example.light"
LOCAL_NAME = "com.local.light"  # not shared


class Reader:
    """Reads the lines of a program, and notes when each came."""

    def __init__(self, process):
        self.times = []
        self.lines = []
        self.came = threading.Condition()
        threading.Thread(target=self.read, args=[process.stdout], daemon=True).start()

    def read(self, stream):
        for line in stream:
            now = time.perf_counter()
            with self.came:
                self.times.append(now)
                self.lines.append(line.decode().strip())
                self.came.notify()

    def wait(self, count, seconds=120):
        with self.came:
            if not self.came.wait_for(lambda: len(self.times) >= count, seconds):
                raise TimeoutError(f"{len(self.times)} of {count} lines")
            return self.times[count - 1]


class Session:
    """What a user has on one machine."""

    def __init__(self, folder, programs):
        self.programs = programs
        for name in ["run", "state", "data"]:
            (folder / name).mkdir(parents=True, mode=0o700)
        folder.chmod(0o700)
        self.environment = os.environ | {
            "HOME": str(folder),
            "XDG_RUNTIME_DIR": str(folder / "run"),
            "XDG_STATE_HOME": str(folder / "state"),
            "XDG_DATA_HOME": str(folder / "data"),
            "DARWIN_NOTIFY_BUS": f"unix:path={folder}/run/bus",
        }
        self.bus = subprocess.Popen(
            ["dbus-daemon", "--session", "--nofork", "--nosyslog", "--print-address",
             f"--address={self.environment['DARWIN_NOTIFY_BUS']}"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.bus.stdout.readline()
        self.relay = None
        self.running = [self.bus]

    def start(self, program, *arguments):
        process = subprocess.Popen(
            [self.programs / program, *arguments], env=self.environment,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.running.append(process)
        return process

    def start_relay(self, port, *settings):
        self.relay = self.start(
            "notifyrelay", "--realm", "home", "--broker", f"mqtt://127.0.0.1:{port}",
            "--share", "com.example.", *settings)

    def observe(self, *names):
        """Starts a program that prints each post of these names. Returns its reader."""
        watches = [word for name in names for word in ["-w", name]]
        reader = Reader(self.start("notifyutil", "--ready=1", *watches))
        reader.wait(1)
        return reader

    def end(self):
        for process in self.running:
            if process.poll() is None:
                process.kill()
            process.wait()

    def status(self):
        answer = subprocess.run(
            [self.programs / "notifyrelay", "--status", "--json"], env=self.environment,
            capture_output=True)
        return json.loads(answer.stdout) if answer.returncode == 0 else None

    def await_status(self, condition):
        deadline = time.monotonic() + 120
        while not ((status := self.status()) and condition(status)):
            if time.monotonic() > deadline:
                raise TimeoutError(str(status))
            time.sleep(0.05)
        return status

    def memory_kib(self):
        for line in pathlib.Path(f"/proc/{self.relay.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS"):
                return int(line.split()[1])

    def wakeups(self):
        total = 0
        for task in pathlib.Path(f"/proc/{self.relay.pid}/task").iterdir():
            for line in (task / "status").read_text().splitlines():
                if line.startswith("voluntary"):
                    total += int(line.split()[1])
        return total


class Bench:
    def __init__(self, arguments, folder):
        self.arguments = arguments
        self.folder = folder
        self.samples = 30 if arguments.smoke else 1000
        self.figures = {}
        self.running = []
        self.sessions = []
        self.port, self.broker = self.start_broker()
        self.here = self.make_session("here")
        self.there = self.make_session("there")
        # The library of this process belongs to the first session.
        os.environ.update(self.here.environment)
        self.library = ctypes.CDLL(str(arguments.library))

    def make_session(self, name):
        self.sessions.append(Session(self.folder / name, self.arguments.programs))
        return self.sessions[-1]

    def find_port(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            return free.getsockname()[1]

    def start_broker(self):
        port = self.find_port()
        settings = self.folder / f"broker-{port}"
        settings.write_text(f"listener {port} 127.0.0.1\nallow_anonymous true\n"
                            "max_queued_messages 100000\nset_tcp_nodelay true\n")
        broker = subprocess.Popen(
            ["/usr/sbin/mosquitto", "-c", settings], stderr=subprocess.DEVNULL)
        self.running.append(broker)
        while True:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    return port, broker
            time.sleep(0.01)

    def post(self, name=NAME):
        self.library.notify_post(name.encode())

    def say(self, key, value, unit):
        self.figures[key] = value
        digits = 2 if abs(value) < 10 else 1
        print(f"{key:72} {value:12,.{digits}f} {unit}", flush=True)

    def measure_posts(self):
        """What a post costs its poster, in sessions that differ in their relay, by turns."""
        n_rounds, n_flood, n_single = (2, 200, 10) if self.arguments.smoke else (60, 5000, 50)
        hung, broker = self.start_broker()
        relays = {"without a relay": None, "with a relay online": self.port,
                  "with a relay whose broker hangs": hung,
                  "with a relay whose broker is gone": self.find_port(),
                  "with an observer more, without a relay": None}
        posters, spans = {}, {}
        for index, (key, port) in enumerate(relays.items()):
            session = self.make_session(f"poster-{index}")
            if port:
                # Longer than the run, so that it does not notice that its broker hangs.
                session.start_relay(port, "--keep-alive", "3600")
            for _ in range(2 if "more" in key else 1):
                session.observe(NAME)
            if port in [self.port, hung]:
                session.await_status(lambda s: s["realms"][0]["state"] == "online")
            posters[key] = session.start(
                sys.executable, pathlib.Path(__file__).with_name("poster.py"),
                self.arguments.library.absolute(), NAME)
        broker.send_signal(signal.SIGSTOP)

        def ask(key, kind, count):
            posters[key].stdin.write(f"{kind} {count}\n".encode())
            posters[key].stdin.flush()
            spans.setdefault((key, kind), []).append(float(posters[key].stdout.readline()))
            time.sleep(0.01)

        for _ in range(n_rounds):
            for key in random.sample(list(relays), len(relays)):
                ask(key, "single", n_single)
                ask(key, "flood", n_flood)
        for key in relays:
            for kind in ["single", "flood"]:
                bases = spans["without a relay", kind]
                ratios = [span / base for span, base in zip(spans[key, kind], bases)]
                self.say(f"{kind} post {key}", statistics.median(spans[key, kind]), "ns")
                for quartile, ratio in zip([25, 50, 75], statistics.quantiles(ratios)):
                    self.say(f"{kind} post {key}, {quartile} %", ratio, "times without")

    def latency(self, key, send, reader):
        """The time from sending until the other side has printed a line, in microseconds."""
        spans = []
        for _ in range(self.samples):
            count = len(reader.times)
            began = time.perf_counter()
            send()
            spans.append((reader.wait(count + 1) - began) * 1e6)
        self.say(f"{key}, median", statistics.median(spans), "us")
        self.say(f"{key}, 99 %", statistics.quantiles(spans, n=100)[98], "us")

    def measure_latency(self, listener, local):
        publisher = subprocess.Popen(
            ["mosquitto_pub", "-p", str(self.port), "-V", "mqttv5", "-q", "1", "-t", "bench", "-l"],
            stdin=subprocess.PIPE)
        subscriber = subprocess.Popen(
            ["stdbuf", "-oL", "mosquitto_sub", "-p", str(self.port), "-V", "mqttv5", "-q", "1",
             "-t", "bench"], stdout=subprocess.PIPE)
        self.running += [publisher, subscriber]
        heard = Reader(subscriber)

        def publish():
            publisher.stdin.write(b"x\n")
            publisher.stdin.flush()

        while not heard.times:
            publish()
            time.sleep(0.1)
        time.sleep(0.5)
        # Each takes turns, so that all see the same machine.
        for turn in range(1 if self.arguments.smoke else 3):
            self.latency(f"mosquitto_pub to mosquitto_sub, turn {turn + 1}", publish, heard)
            self.latency(f"post here to notifyutil here, turn {turn + 1}",
                         lambda: self.post(LOCAL_NAME), local)
            self.latency(f"post here to notifyutil there, turn {turn + 1}", self.post, listener)

        def mean(key):
            return statistics.mean(v for k, v in self.figures.items()
                                   if k.startswith(key) and "median" in k)

        # A post is local twice: from the poster to the relay here, from the relay there to notifyutil.
        parts = mean("mosquitto_pub") + 2 * mean("post here to notifyutil here")
        there = mean("post here to notifyutil there")
        self.say("there, as multiple of mosquitto's", there / mean("mosquitto_pub"), "")
        self.say("there, as multiple of mosquitto's and two local posts", there / parts, "")

    def measure_flood(self, listener):
        n_posts = 2000 if self.arguments.smoke else 200000
        before = self.here.status()["realms"][0]["counts"]["sent"]
        began = time.perf_counter()
        for _ in range(n_posts):
            self.post()
        posted = time.perf_counter() - began
        count = len(listener.times)
        self.post("com.example.last")
        while "com.example.last" not in listener.lines[-50:]:
            count = listener.wait(count + 1) and len(listener.times)
        self.say("flood of one name, posts", n_posts, "")
        self.say("flood, posts a second", n_posts / posted, "1/s")
        self.say("flood, until the last is heard there", time.perf_counter() - began, "s")
        self.say("flood, messages sent",
                 self.here.status()["realms"][0]["counts"]["sent"] - before, "")
        self.say("memory of the relay here after it", self.here.memory_kib(), "KiB")

    def measure_names(self):
        n_names = 200 if self.arguments.smoke else 10000
        known = self.there.status()["names"]
        names = [f"com.example.many.{i}" for i in range(n_names)]
        began = time.perf_counter()
        for name in names:
            self.post(name)
        self.there.await_status(lambda s: s["names"] >= known + n_names)
        self.say(f"{n_names} names, posted until known there", time.perf_counter() - began, "s")
        for session, name in [(self.here, "here"), (self.there, "there")]:
            self.say(f"memory of the relay {name} with them", session.memory_kib(), "KiB")
        self.here.relay.send_signal(signal.SIGTERM)
        self.here.relay.wait()
        began = time.perf_counter()
        self.here.start_relay(self.port)
        self.here.await_status(lambda s: s["realms"][0]["state"] == "online")
        self.say(f"{n_names} names, from the start until online", time.perf_counter() - began, "s")

    def measure_idle(self):
        seconds = 2 if self.arguments.smoke else 30
        time.sleep(2)
        before = self.here.wakeups()
        time.sleep(seconds)
        self.say(f"wake-ups of an idle relay in {seconds} s", self.here.wakeups() - before, "")

    def run(self):
        local = self.here.observe(LOCAL_NAME)
        for session in [self.here, self.there]:
            session.start_relay(self.port)
        for session in [self.here, self.there]:
            session.await_status(
                lambda s: s["realms"][0]["state"] == "online"
                and any(p.get("state") == "online" for p in s["realms"][0]["peers"]))
        listener = self.there.observe(NAME, "com.example.last")
        self.measure_latency(listener, local)
        self.measure_flood(listener)
        self.measure_idle()
        self.measure_posts()
        self.measure_names()

    def end(self):
        for session in self.sessions:
            session.end()
        for process in self.running:
            process.kill()
            process.wait()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", type=pathlib.Path, required=True)
    parser.add_argument("--library", type=pathlib.Path, required=True)
    parser.add_argument("--figures", type=pathlib.Path, required=True)
    parser.add_argument("--smoke", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(arguments, pathlib.Path(folder))
        try:
            bench.run()
        finally:
            bench.end()
        arguments.figures.write_text(json.dumps(bench.figures, indent=2) + "\n")


if __name__ == "__main__":
    main()
