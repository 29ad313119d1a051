"""Writes the figures: as text, as JSON, as Markdown."""

import json
import time

import charts
import machine
import messages
from processes import Failure
from tables import TABLES
from targets import judge

NONE = "–"


def write(comparison, arguments):
    results = comparison.results
    kinds = comparison.dbus_kinds()
    notify = machine.run_notify_figures(arguments.notify, kinds) if arguments.notify else {}
    message_tables = measure_messages(comparison, arguments, kinds)
    targets = [*judge(results, kinds, notify), *messages.judge(message_tables)]
    described = {"mode": arguments.mode, "date": time.strftime("%Y-%m-%d", time.gmtime()),
                 "machine": machine.describe(), "versions": machine.list_versions(arguments.python),
                 "bytes": machine.list_sizes(arguments.programs, arguments.swift)}
    text = "\n".join([*describe(described), *format_targets(targets),
                      *format_rivals(comparison), *format_notify(notify),
                      *format_tables(comparison),
                      *format_messages(message_tables), *format_skipped(comparison)])
    (arguments.output / "report.md").write_text(text + "\n")
    (arguments.output / "figures.json").write_text(json.dumps({
        "version": 1, **described, "results": results.to_json(),
        "reasons": results.reasons_to_json(), "notify": notify,
        "messages": messages.to_json(message_tables),
        "targets": [dict(zip(("title", "broker", "limit", "value", "holds"), row))
                    for row in targets],
    }, indent=1, ensure_ascii=False) + "\n")
    print(text)
    charts.draw(comparison, message_tables, arguments.output)


def measure_messages(comparison, arguments, kinds):
    """They have no contender but what one would write by hand, so they are left out with it."""
    if not arguments.messages:
        return []
    tables = []
    for kind in kinds:
        try:
            tables += messages.measure(arguments.messages, kind, arguments.mode)
        except (Failure, OSError) as failure:
            comparison.skipped.append(f"messages on {kind}: {failure}")
    return tables


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


def format_targets(rows):
    if not rows:
        return []
    cells = [["target", "broker", "limit", "seen", ""]]
    cells += [[title, kind, limit, number(value), "holds" if holds else "**missed**"]
              for title, kind, limit, value, holds in rows]
    return ["", "## Targets", "", *align(cells)]


def format_rivals(comparison):
    """Who over D-Bus has a better figure than the best of ours: the design wants nobody."""
    cells = [["measure", "broker", "ahead", "its figure", "our best"]]
    for table in TABLES:
        for column in table.columns:
            for kind in comparison.dbus_kinds() if column.is_judged else []:
                cells += find_rivals(table, column, kind, comparison)
    if len(cells) == 1:
        return []
    return ["", "## Contenders over D-Bus that are ahead", "", *align(cells)]


def find_rivals(table, column, kind, comparison):
    values = {peer: value for peer, its_kind in comparison.pairs if its_kind == kind
              if (value := column.value(comparison.results, kind, peer.name)) is not None}
    ours = [value for peer, value in values.items() if peer.is_ours]
    if not ours:
        return
    best = max(ours) if table.is_more_better else min(ours)
    for peer, value in values.items():
        if not peer.is_ours and not peer.is_yardstick and value != best and (
                value > best) == table.is_more_better:
            yield [f"{table.title} ({column.title})", kind, peer.name, number(value), number(best)]


def format_notify(notify):
    if not notify:
        return []
    lines = list(dict.fromkeys(line for figures in notify.values() for line in figures
                               if line.startswith(("an empty call", "notify_", "register",
                                                   "a round trip"))))
    cells = [["", *notify]] + [[line, *(number(figures.get(line)) for figures in notify.values())]
                               for line in lines]
    return ["", "## Calls of `<notify.h>`, ns or as said", "", *align(cells)]


def format_tables(comparison):
    for table in TABLES:
        yield from format_table(table, comparison)


def format_table(table, comparison):
    results, rows, notes = comparison.results, [], []
    columns = [column for column in table.columns if any(
        column.value(results, kind, peer.name) is not None for peer, kind in comparison.pairs)]
    if not columns:
        return
    for peer, kind in comparison.in_order():
        values = [column.value(results, kind, peer.name) for column in columns]
        name = f"**{peer.name}**" if peer.is_ours else peer.name
        rows.append([name, kind, *(number(value) for value in values)])
        if None in values:
            notes += [f"- {peer.name} on {kind}, {key}: {reason}" for key, reason in
                      results.reasons_of(table.measures or (table.key,), kind, peer.name)]
    yield from ["", f"## {table.title}", ""]
    if charts.can_draw():
        yield from [f"![{table.title}]({table.key}.svg)", ""]
    yield from align([["", "broker", *(column.title for column in columns)], *rows])
    if table.note:
        yield from ["", table.note]
    if notes:
        yield from ["", f"Why there is “{NONE}”:", "", *dict.fromkeys(notes)]


def format_messages(tables):
    for same in messages.by_title(tables):
        figures = same[0].figures
        yield from ["", f"## {same[0].title}", ""]
        if figures and charts.can_draw():
            yield from [f"![{same[0].title}]({same[0].key}.svg)", ""]
        yield from align([["", "broker", *same[0].columns[1:]],
                          *([row[0], table.kind, *row[1:]] for table in same
                            for row in table.rows)])


def format_skipped(comparison):
    if comparison.skipped:
        yield from ["", "## Not compared", ""]
        yield from (f"- skipped: {text}" for text in comparison.skipped)


def number(value):
    """Three digits that count, more where a number has them before the point."""
    if value is None:
        return NONE
    if value == 0 or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}" if abs(value) >= 0.001 else f"{value:.1e}"


def align(rows):
    """A Markdown table that can be read as text as well; numbers stand to the right."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = [" | ".join(cell.ljust(width) if i < 2 else cell.rjust(width) for i, (cell, width)
                        in enumerate(zip(row, widths))) for row in rows]
    rule = " | ".join("-" * width if i < 2 else "-" * (width - 1) + ":"
                      for i, width in enumerate(widths))
    return [f"| {line} |" for line in [lines[0], rule, *lines[1:]]]
