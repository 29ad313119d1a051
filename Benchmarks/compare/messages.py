"""Measures messages of Wormhole beside what one would write by hand, as tables."""

import json
import os
import re
import subprocess
from dataclasses import dataclass

from processes import Failure


@dataclass(frozen=True)
class MessageTable:
    """A table of wormhole-figures on one broker; `figures` is None where it has no contest."""

    kind: str
    columns: list
    rows: list
    figures: dict = None

    @property
    def title(self):
        return self.columns[0]

    @property
    def key(self):
        return "messages_" + re.sub(r"[^a-z0-9]+", "_", self.title.lower())


# On a disk, as the data of a user; with a name that leaves room for that of a socket.
FOLDER = "/var/tmp"


def measure(program, kind, mode):
    """Runs the program on a broker."""
    words = [program, "--json"] + (["--smoke"] if mode != "full" else [])
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=False,
                          env=dict(os.environ, DN_TEST_BROKER=kind, DN_TEST_DIRECTORY=FOLDER))
    if done.returncode != 0:
        raise Failure(f"ended with status {done.returncode}")
    return [MessageTable(kind, **json.loads(line)) for line in done.stdout.splitlines()]


def by_title(tables):
    """The tables of one title on all brokers, in the order of the program."""
    titles = dict.fromkeys(table.title for table in tables)
    return [[table for table in tables if table.title == title] for title in titles]


def judge(tables):
    """Rows as those of targets.judge()."""
    for same in by_title(tables):
        for table in same:
            for row in table.figures["rows"] if table.figures else []:
                if row.get("limit") is not None:
                    sign = "≥" if table.figures["isMoreBetter"] else "≤"
                    yield (f"{table.title}: {row['title']}, to {table.figures['rows'][0]['title']}",
                           table.kind, f"{sign} {row['limit']:g}", row["ratio"], row["holds"])


def bars_of(same):
    """What a chart of a contest shows: label, value, broker, whether it is ours."""
    return [(f"{row['title']}, {table.kind}", row["median"], table.kind, row["isOurs"])
            for table in same for row in table.figures["rows"]]


def to_json(tables):
    return [{"broker": table.kind, "columns": table.columns, "rows": table.rows,
             "figures": table.figures} for table in tables]
