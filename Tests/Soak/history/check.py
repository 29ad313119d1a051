#!/usr/bin/env python3
"""Verifies the guarantees from histories of the soak: check.py FILE...

A history has one JSON object on each line. A process appends a line before it does something and
after that has returned, so the lines are in an order in which it may all have happened. This is all
that this program knows of the soak. It prints each violation with its line, and how often each
guarantee was put to the test; it ends with 1 if one is violated, or none was tested.
"""

import collections
import json
import sys

LAST_POST = "after the last post of a name, each of its observers is called"
COUNTED = "a post is delivered once"
STATE = "a state is never older than the post that follows it"
ORDER = "posts of one name keep their order"
CALL = "a call ends exactly once, with its own answer or an error"
MESSAGE = "a listener gets messages in order, each once, and the last one"
WHOLE = "a message is whole"


class Process:
    def __init__(self):
        self.worker = self.role = None
        self.ready = None  # the line from which on it is called
        self.names = {}  # that it observes, with what it has heard
        self.called = {}  # name: the line of the last call; 0: not yet
        self.last_state = self.last_told = 0
        self.has_message = set()  # names of which it has got one


class Hearing:
    def __init__(self, n_returned):
        self.returned_before = n_returned  # posts that had returned when it began to register
        self.begun_before = None  # posts that had begun when it had registered
        self.heard = 0


class History:
    """What has happened up to a line."""

    def __init__(self):
        self.line, self.violations, self.verified = 0, [], collections.Counter()
        self.on_begins(None)

    def on_begins(self, _):
        """Nothing that happened on the ground before counts on the next one."""
        self.processes, self.dead = {}, set()
        self.begun, self.returned = collections.Counter(), collections.Counter()
        self.posting = {}  # pid, name: its line
        self.last_post = collections.Counter()  # name: the line on which its last post that has returned began
        self.set, self.states = {}, []  # by pid; before each post of the name with states
        self.announced = set()
        self.open, self.ended = {}, set()  # calls; the caller of each open one
        self.values = {}  # name, number of a message: value
        self.newest = collections.Counter()  # name: number of the last message
        self.got = {}  # worker, name: number of a message

    def verify(self, guarantee, is_kept, text):
        self.verified[guarantee] += 1
        if not is_kept:
            self.violations.append(f"line {self.line}: not true that {guarantee}: {text}")

    def of(self, event):
        is_dead = event["pid"] in self.dead
        return Process() if is_dead else self.processes.setdefault(event["pid"], Process())

    def on_starts(self, event):
        process = self.processes.setdefault(event["child"], Process())
        process.worker, process.role = event["worker"], event["role"]

    def on_kills(self, event):
        self.dead.add(event["child"])  # nobody owes it anything
        self.processes.pop(event["child"], None)

    def on_ready(self, event):
        self.of(event).ready = self.line

    def on_post(self, event):
        name, pid = event["name"], event["pid"]
        self.begun[name] += 1
        self.posting[pid, name] = self.line
        if pid in self.set:
            self.states.append(self.set[pid])

    def on_posted(self, event):
        name = event["name"]
        self.returned[name] += 1
        self.last_post[name] = max(self.last_post[name], self.posting[event["pid"], name])

    def on_registers(self, event):
        self.of(event).names[event["name"]] = Hearing(self.returned[event["name"]])

    def on_observes(self, event):
        self.of(event).called.setdefault(event["name"], 0)
        if hearing := self.of(event).names.get(event["name"]):
            hearing.begun_before = self.begun[event["name"]]

    def on_notices(self, event):
        self.of(event).called[event["name"]] = self.line

    def on_hears(self, event):
        name, process = event["name"], self.of(event)
        process.called[name], hearing = self.line, process.names.setdefault(name, Hearing(0))
        hearing.heard += event["posts"]
        n_possible = self.begun[name] - hearing.returned_before
        self.verify(COUNTED, process.role is None or hearing.heard <= n_possible,
                    f"{event['pid']} has heard {hearing.heard} of {n_possible} posts of {name}")

    def on_sets(self, event):
        self.set[event["pid"]] = event["state"]

    def on_reads(self, event):
        """Who has heard of n posts reads what was set before the last of them, or later."""
        process, state = self.of(event), event["state"]
        for hearing in process.names.values():
            n = min(hearing.returned_before + hearing.heard, len(self.states))
            oldest = self.states[n - 1]
            self.verify(STATE, state >= max(oldest, process.last_state),
                        f"{event['pid']} reads {state} after {max(oldest, process.last_state)}")
        process.last_state = state

    def on_announces(self, event):
        self.announced.add(event["number"])

    def on_is_told(self, event):
        process, number = self.of(event), event["number"]
        is_next = number in self.announced and number > process.last_told
        self.verify(ORDER, is_next, f"{event['pid']} is told {number} after {process.last_told}")
        process.last_told = number

    def on_calls(self, event):
        self.open[event["call"]] = event["pid"]

    def on_ends(self, event):
        call = event["call"]
        is_first = call in self.open and call not in self.ended
        self.verify(CALL, is_first and (event["error"] != 0 or event["reply"] == call),
                    f"{call} ends with {event['error']} and {event['reply']}")
        self.ended.add(call)
        self.open.pop(call, None)

    def learn(self, event):
        key = event["name"], event["number"]
        known = self.values.setdefault(key, event["value"])
        self.verify(WHOLE, known == event["value"], f"{key} is {event['value']}, not {known}")

    def on_passed(self, event):
        self.learn(event)
        self.newest[event["name"]] = max(event["number"], self.newest[event["name"]])

    def on_gets(self, event):
        """A process gets again what the one before it was handling when it was killed."""
        self.learn(event)
        name, number, process = event["name"], event["number"], self.of(event)
        last, following = self.got.get((process.worker, name)), number - event["missed"]
        is_again = name not in process.has_message and following == last
        self.verify(MESSAGE, last is None or is_again or following == last + 1,
                    f"{number} of {name} follows {last}, {event['missed']} are missed")
        process.has_message.add(name)
        self.got[process.worker, name] = number

    def on_rest(self, _):
        """Nobody posts, and what has not arrived by now is lost."""
        for pid, process in self.processes.items():
            for name in process.called.keys() & self.last_post.keys():
                self.judge(pid, process, name, self.last_post[name])
            for name in self.newest if process.role and process.role[0] == "listen" else ():
                if name in process.role:
                    got = self.got.get((process.worker, name), 0)
                    self.verify(MESSAGE, got >= self.newest[name], f"{pid} is at {got} of {name}")
        for call, pid in self.open.items():
            self.verify(CALL, pid not in self.processes, f"{call} has not ended")

    def judge(self, pid, process, name, began):
        if not process.ready or began < process.ready:
            return
        self.verify(LAST_POST, process.called[name] > began,
                    f"{pid} was not called for {name} after line {began}")
        if hearing := process.names.get(name):
            n_sure = self.returned[name] - hearing.begun_before
            self.verify(COUNTED, hearing.heard >= n_sure,
                        f"{pid} has heard {hearing.heard} of {n_sure} posts of {name}")


def check(path):
    history = History()
    with open(path, encoding="utf-8") as file:
        for history.line, event in enumerate(map(json.loads, file), 1):
            getattr(history, "on_" + event["what"].replace("-", "_"))(event)
    for violation in history.violations[:20]:
        print(f"{path}: {violation}")
    print(f"{path}: {history.line} lines, {len(history.violations)} violations")
    for guarantee, n in history.verified.items():
        print(f"{n:10} times: {guarantee}")
    return bool(history.verified) and not history.violations


sys.exit(0 if all([check(path) for path in sys.argv[1:]]) else 1)
