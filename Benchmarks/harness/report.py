"""Writes the results: a report in Markdown with charts, all figures as JSON."""

import json
import time

import charts
import machine
from peers import BEFORE, FLOOR
from tables import TABLES
from targets import judge

NO_NUMBER = "–"


def write(comparison, arguments):
    results = comparison.results
    targets = judge(results)
    described = {"mode": arguments.mode, "date": time.strftime("%Y-%m-%d", time.gmtime()),
                 "machine": machine.describe(), "versions": machine.list_versions(arguments.python),
                 "bytes": machine.list_sizes(arguments.programs, arguments.swift)}
    text = "\n".join([*describe(described), *format_best(comparison), *format_targets(targets),
                      *format_before(comparison), *format_rivals(comparison),
                      *format_tables(comparison), *format_skipped(comparison)])
    (arguments.output / "report.md").write_text(text + "\n")
    arguments.figures.write_text(json.dumps({
        "version": 2, **described, "results": results.to_json(),
        "reasons": results.reasons_to_json(),
        "targets": [dict(zip(("title", "broker", "limit", "value", "holds"), row))
                    for row in targets],
    }, indent=1, ensure_ascii=False) + "\n")
    if arguments.mode == "smoke":
        text = "\n".join(f"skipped: {each}" for each in comparison.skipped)
    print(text)
    charts.draw(comparison, arguments.output)


# ---- parts of the text ---------------------------------------------------------------------------

def describe(described):
    where = described["machine"]
    yield (f"A {described['mode']} run of {described['date']} on {where['processor']}, "
           f"{where['processors']} processors, Linux {where['kernel']}, load {where['load']}.")
    yield ""
    yield "Versions: " + ", ".join(f"{name} {version}" for name, version in
                                   described["versions"].items()) + "."
    if described["bytes"]:
        yield ""
        yield "Bytes without symbols: " + ", ".join(
            f"{name} {size:,}" for name, size in described["bytes"].items()) + "."


def format_best(comparison):
    """Ours, the best other, the floor: a row for each table that has a chart."""
    cells = [["", "ours", "best other", "floor"]]
    for table in (table for table in TABLES if table.question):
        if bars := charts.find_bars(table, comparison):
            best = {"ours": [], "other": [], "floor": []}
            for (name, style), by_kind in bars[1].items():
                group = "floor" if name == FLOOR else "ours" if style == "ours" else "other"
                best[group] += [(value, f"{name}, {kind}") for kind, value in by_kind.items()]
            choose = max if table.is_more_better else min
            cells.append([f"{table.title} ({bars[0].title})", *(
                f"{number(value)} ({name})" if value else NO_NUMBER
                for value, name in (choose(each, default=(None, "")) for each in best.values()))])
    return ["", "## Ours, the best other, the floor", "", *align(cells, 4)] if cells[1:] else []


def format_targets(rows):
    if not rows:
        return []
    cells = [["target", "broker", "limit", "seen", ""]]
    cells += [[title, kind, limit, number(value), "holds" if holds else "**missed**"]
              for title, kind, limit, value, holds in rows]
    return ["", "## Targets", "", *align(cells)]


def format_before(comparison):
    """What has changed since another build: the ratio within each round of this run."""
    cells = [["figure", "", "broker", "before", "now", "ratio"]]
    for table, column in ((table, column) for table in TABLES for column in table.columns
                          if column.figure and (column.is_judged or column is table.columns[0])):
        for name, kind, _ in comparison.rows(table):
            both = [(name, kind), (name + BEFORE, kind)]
            now, before = (comparison.results.median(column.figure, kind, who) for who, _ in both)
            if now is not None and before is not None:
                ratio = comparison.results.ratio(column.figure, kind, name, name + BEFORE)
                cells.append([f"{table.title} ({column.title})", name, kind, number(before),
                              number(now), number(ratio)])
    if len(cells) == 1:
        return []
    return ["", "## Before and now", "", *align(cells, n_left=3)]


def format_rivals(comparison):
    """Who over D-Bus has a better figure than the best of ours: the design wants nobody."""
    cells = [["measure", "broker", "ahead", "its figure", "our best"]]
    for table in (table for table in TABLES if table.group == "posts"):
        for column in table.columns:
            for kind in comparison.dbus_kinds() if column.is_judged else []:
                cells += find_rivals(table, column, kind, comparison)
    if len(cells) == 1:
        return []
    return ["", "## Contenders over D-Bus that are ahead", "", *align(cells)]


def find_rivals(table, column, kind, comparison):
    values = {peer: value for peer, its_kind in comparison.pairs
              if its_kind == kind and peer.group == table.group
              if (value := column.value(comparison.results, kind, peer.name)) is not None}
    ours = [value for peer, value in values.items() if peer.is_ours]
    if not ours:
        return
    best = max(ours) if table.is_more_better else min(ours)
    for peer, value in values.items():
        if not peer.is_ours and not peer.is_yardstick and value != best and (
                value > best) == table.is_more_better:
            yield [f"{table.title} ({column.title})", kind, peer.name, number(value), number(best)]


def format_tables(comparison):
    for table in TABLES:
        yield from format_table(table, comparison)


def format_table(table, comparison):
    results, rows, notes = comparison.results, [], []
    contenders = comparison.rows(table)
    columns = [column for column in table.columns if any(
        column.value(results, kind, name) is not None for name, kind, _ in contenders)]
    if not columns:
        return
    for name, kind, style in contenders:
        values = [column.value(results, kind, name) for column in columns]
        rows.append([f"**{name}**" if style == "ours" else name, kind, *map(number, values)])
        if None in values:
            notes += [f"- {name} on {kind}, {key}: {reason}"
                      for key, reason in table.reasons(results, kind, name)]
    yield from ["", f"## {table.title}", ""]
    if table.question:
        yield from [f"![{table.question}]({table.key}.svg)", ""]
    yield from align([["", "broker", *(column.title for column in columns)], *rows])
    if table.note:
        yield from ["", table.note]
    if notes:
        yield from ["", f"Why there is “{NO_NUMBER}”:", "", *dict.fromkeys(notes)]


def format_skipped(comparison):
    if comparison.skipped:
        yield from ["", "## Not compared", ""]
        yield from (f"- {text}" for text in comparison.skipped)


def number(value):
    """Three digits that count, more where a number has them before the point."""
    if value is None:
        return NO_NUMBER
    if value == 0 or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}" if abs(value) >= 0.001 else f"{value:.1e}"


def align(rows, n_left=2):
    """A Markdown table that can be read as text as well; numbers stand to the right."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = [" | ".join(cell.ljust(width) if i < n_left else cell.rjust(width) for i, (cell, width)
                        in enumerate(zip(row, widths))) for row in rows]
    rule = " | ".join("-" * width if i < n_left else "-" * (width - 1) + ":"
                      for i, width in enumerate(widths))
    return [f"| {line} |" for line in [lines[0], rule, *lines[1:]]]
