"""Prints the table of Scripts/coverage from what gcov and llvm-cov have written.

coverage.py SCRATCH [--missing FOLDER...]
"""

import collections
import glob
import gzip
import json
import os
import re
import sys

REASON = re.compile(r"/[/*] (unreachable|race): \S")
CODE = re.compile(r"[^/\w]*\w")


class File:
    """Which lines of one source file were executed, and which outcomes of each branch."""

    def __init__(self, path):
        self.path = path
        self.lines = {}  # number: executed at least once
        self.branches = collections.defaultdict(dict)  # number: {index: taken}

    def add_line(self, number, count):
        self.lines[number] = self.lines.get(number, False) or count > 0

    def add_branch(self, number, index, count):
        taken = self.branches[number]
        taken[index] = taken.get(index, False) or count > 0

    def excuse(self):
        """Removes lines marked as unreachable, and the blocks that such lines begin."""
        depth = None
        with open(self.path, encoding="utf-8") as source:
            for number, text in enumerate(source, 1):
                indent = len(text) - len(text.lstrip())
                if depth is not None and text.strip() and indent <= depth:
                    depth = None
                reason = REASON.search(text)
                if reason and "{" in text[:reason.start()]:
                    depth = indent
                if reason or depth is not None:
                    self.lines.pop(number, None)
                    self.branches.pop(number, None)


def read_gcov(scratch, files):
    for name in glob.glob(scratch + "/gcov/*/*.json.gz"):
        with gzip.open(name) as stored:
            report = json.load(stored)
        for source in report["files"]:
            path = os.path.relpath(os.path.join(report["current_working_directory"],
                                                source["file"]))
            if not path.startswith(("CShims/CDarwinNotify/", "Sources/")):
                continue
            file = files.setdefault(path, File(path))
            for line in source["lines"]:
                file.add_line(line["line_number"], line["count"])
                for index, branch in enumerate(line["branches"]):
                    file.add_branch(line["line_number"], index, branch["count"])


def read_llvm(scratch, files):
    """Counts lines with code as llvm-cov does, and its regions as outcomes of branches.

    A segment is [line, column, count, has_count, begins_region, is_gap].
    """
    name = scratch + "/swift.json"
    if not os.path.exists(name):
        return
    with open(name, encoding="utf-8") as stored:
        report = json.load(stored)
    for source in report["data"][0]["files"]:
        path = os.path.relpath(source["filename"])
        if not path.startswith("Sources/") or not path.endswith(".swift"):
            continue
        file = files.setdefault(path, File(path))
        with open(path, encoding="utf-8") as text:
            has_code = [False] + [CODE.match(line) for line in text]
        segments = collections.defaultdict(list)
        for segment in source["segments"]:
            segments[segment[0]].append(segment)
        wrapping = None  # the last segment of an earlier line
        for number in range(1, max(segments, default=0) + 1):
            counts = [count for _, _, count, has_count, begins, is_gap in segments[number]
                      if begins and has_count and not is_gap]
            if has_code[number]:
                for index, count in enumerate(counts):
                    file.add_branch(number, index, count)
                if wrapping and wrapping[3]:
                    counts.append(wrapping[2])
                if counts:
                    file.add_line(number, max(counts))
            wrapping = (segments[number] or [wrapping])[-1]


def folder_of(path):
    parts = path.split("/")
    if parts[0] == "CShims":
        return parts[2]
    return "/".join(parts[1:3]) if len(parts) > 3 else parts[1]


def percent(part, whole):
    return f"{100 * part / whole:.1f} %" if whole else "–"


def print_table(files):
    folders = collections.defaultdict(lambda: [0, 0, 0, 0])
    for file in files.values():
        sums = folders[folder_of(file.path)]
        sums[0] += len(file.lines)
        sums[1] += sum(file.lines.values())
        sums[2] += sum(len(taken) for taken in file.branches.values())
        sums[3] += sum(sum(taken.values()) for taken in file.branches.values())
    print("| folder | lines | executed | branches | taken |\n|---|---|---|---|---|")
    for folder, (n, executed, n_branches, taken) in sorted(folders.items()):
        print(f"| `{folder}` | {n} | {percent(executed, n)} | {n_branches} |"
              f" {percent(taken, n_branches)} |")


def print_missing(files, wanted):
    for path, file in sorted(files.items()):
        if folder_of(path) not in wanted:
            continue
        with open(path, encoding="utf-8") as source:
            text = source.read().split("\n")
        for number in sorted(file.lines):
            taken = file.branches.get(number, {})
            if not file.lines[number]:
                print(f"{path}:{number}: not executed: {text[number - 1].strip()}")
            elif not all(taken.values()):
                print(f"{path}:{number}: {sum(taken.values())} of {len(taken)} branches:"
                      f" {text[number - 1].strip()}")


def main():
    files = {}
    read_gcov(sys.argv[1], files)
    read_llvm(sys.argv[1], files)
    for file in files.values():
        file.excuse()
    print_table(files)
    if len(sys.argv) > 2:
        print_missing(files, set(sys.argv[3:]))


main()
