"""Shows the tables, hubs and queues of libdarwinnotify in gdb, which needs its debug information.

    (gdb) source printers.py
    (gdb) print *observer->queue
    (gdb) print *hub
    (gdb) print *region
"""

import struct

import gdb
import gdb.printing

SLOTS_SHOWN = 200


def read(value, type_name, count):
    """The words of an array, read at once."""
    size = struct.calcsize(type_name)
    memory = gdb.selected_inferior().read_memory(int(value.address), size * count)
    return struct.unpack(type_name * count, memory.tobytes())


def text_of(pointer):
    return pointer.string(errors="replace") if int(pointer) else ""


def each(head, type_name, member):
    """The objects that a list links."""
    kind = gdb.lookup_type(type_name)
    offset = next(f.bitpos // 8 for f in kind.strip_typedefs().fields() if f.name == member)
    link = head["next"]
    while int(link) and int(link) != int(head.address):
        yield gdb.Value(int(link) - offset).cast(kind.pointer()).dereference()
        link = link["next"]


class Region:
    """A table: its number, its processes, and its names with generation and state.

    Reading the table as a whole would fill the holes of its file."""

    def __init__(self, value):
        self.table = value["table"].dereference()

    def to_string(self):
        header = self.table["header"]
        return "table %#x, version %d, %d entries used" % (
            int(header["region_id"]), int(header["version"]), int(self.table["n_processes_used"]))

    def named(self):
        tags = self.table["tags"]
        n_sets = int(self.table["header"]["n_sets"])
        per_set = int(self.table["header"]["slots_per_set"])
        sets = read(self.table["named_sets"], "Q", n_sets // 64)
        for index in range(n_sets):
            if sets[index // 64] >> index % 64 & 1:
                first = index * per_set
                words = read(tags[first], "%dQ" % per_set, 1)
                yield from (first + i for i in range(per_set) if words[i])

    def children(self):
        for shown, index in enumerate(self.named()):
            if shown == SLOTS_SHOWN:
                yield "more", "…"
                return
            yield "slot %d" % index, self.describe(self.table["slots"][index])

    @staticmethod
    def describe(slot):
        name = slot["name"]
        words = struct.pack("64Q", *read(name, "Q", 64))
        size = min(int(slot["n_name_bytes"]), 511)
        return "%s: generation %d, state %d, %d holders" % (
            words[:size].decode(errors="replace"), int(slot["generation"]), int(slot["state"]),
            sum(bin(word).count("1") for word in read(slot["holders"], "Q", 16)))


class Hub:
    """Its table, its carriers and its counts."""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        region = self.value["member"]["region"]
        table = "table %#x" % int(region["id"]) if int(region) else "no table"
        return "hub %d: %s, %d observers, %d runs waiting" % (
            int(self.value["id"]), table, int(self.value["n_observers"]), int(self.value["n_runs"]))

    def children(self):
        for queue in each(self.value["ready"], "dn__post_queue", "ready_link"):
            yield "ready", Queue(queue).to_string()


class Queue:
    """Its name, its observers, and the posts that wait for them."""

    def __init__(self, value):
        self.value = value

    def to_string(self):
        topic = self.value["topic"]
        name = text_of(topic["name"]["text"]) if int(topic) else "?"
        observers = sum(1 for _ in each(self.value["observers"], "dn_observer", "link"))
        return "queue of %s: %d observers, %d items, %d runs%s" % (
            name, observers, int(self.value["n_items"]), int(self.value["n_runs"]),
            ", delivering" if self.value["is_delivering"] else "")


def printers():
    collection = gdb.printing.RegexpCollectionPrettyPrinter("darwinnotify")
    collection.add_printer("table", "^dn__region$", Region)
    collection.add_printer("hub", "^dn__hub$", Hub)
    collection.add_printer("queue", "^dn__post_queue$", Queue)
    return collection


gdb.printing.register_pretty_printer(gdb.current_objfile(), printers(), replace=True)
