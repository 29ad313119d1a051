"""Draws charts as SVG: bars for each table whose chart answers a question, and the distribution of
the times of a post."""

import math
import statistics
from html import escape

from peers import BEFORE, FLOOR, NONE, YARDSTICK
from tables import TABLES

N_ROWS = 7  # at most, of ours and of others each; the slowest are only in the table
SHADES = {"daemon": 1.0, "broker": 0.55, "none": 0.3}
ROW, BAR, LABEL, WIDTH, HEIGHT = 18, 13, 200, 430, 260  # lengths in pixels
STYLE = """text { font: 12px sans-serif; fill: #1f2328 } .name { text-anchor: end }
.title { font-size: 14px; font-weight: bold } .middle { text-anchor: middle }
.ours { fill: #1f6fb5 } .yardstick { fill: #6b7078 } .other { fill: #b8bcc2 }
.floor { stroke: #c2410c; stroke-dasharray: 4 3 } .floor-name { fill: #c2410c }
.grid { stroke: #8888; stroke-width: 0.5 } polyline { fill: none; stroke-width: 1.5 }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .ours { fill: #4c9be8 } }"""
COLOURS = ("#1f6fb5", "#4c9be8", "#7a3fb5", "#c2410c", "#6b7078", "#b8890c", "#2b8a3e")


def draw(comparison, folder):
    for table in TABLES:
        if table.question and (bars := find_bars(table, comparison)):
            (folder / f"{table.key}.svg").write_text(draw_bars(table, *bars))
    if curves := find_curves(comparison):
        (folder / "latency-distribution.svg").write_text(draw_curves(curves))


# ---- bars ----------------------------------------------------------------------------------------

def find_bars(table, comparison):
    """The first column that anybody has, and for each contender: name, style, value by broker."""
    for column in table.columns:
        rows = {}
        for name, kind, style in comparison.rows(table):
            if value := column.value(comparison.results, kind, name):
                rows.setdefault((name, style), {})[kind] = value
        if rows:
            return column, rows
    return None


def choose(table, rows):
    """Ours above, each group with its best first; the floor is a line, not a row."""
    def rank(row):
        return (-1 if table.is_more_better else 1) * min(row[1].values())
    ours, others = (sorted((row for row in rows.items()
                            if (row[0][1] == "ours") == is_ours and row[0][0] != FLOOR), key=rank)
                    for is_ours in (True, False))
    return ours[:N_ROWS] + others[:N_ROWS]


class Scale:
    """From values to pixels. Where one value is fifty times another, a plain scale shows only
    that one."""

    def __init__(self, values, left=LABEL, is_log=False):
        self.is_log = is_log or max(values) > 50 * min(values)
        self.low, self.left = math.log(min(values) / 2) if self.is_log else 0, left
        self.high = self.place(max(values))

    def place(self, value):
        return math.log(value) if self.is_log else value

    def x(self, value):
        return self.left + WIDTH * (self.place(value) - self.low) / (self.high - self.low)


def draw_bars(table, column, rows):
    chosen = choose(table, rows)
    floor = min((value for (name, _), values in rows.items() if name == FLOOR
                 for value in values.values()), default=None)
    values = [value for _, by_kind in chosen for value in by_kind.values()]
    scale = Scale(values + ([floor] if floor else []))
    height = ROW * len(chosen) + 56
    kinds = [kind for kind in SHADES if any(kind in by_kind for _, by_kind in chosen)]
    lines = [*begin(table.question, describe(table, column, scale, kinds), height + 20)]
    for number, ((name, style), by_kind) in enumerate(chosen):
        lines += draw_row(48 + ROW * number, name, style, by_kind, scale)
    if floor:
        x = f"{scale.x(floor):.1f}"
        lines += [f'<line class="floor" x1="{x}" x2="{x}" y1="44" y2="{height - 4}"/>',
                  f'<text class="floor-name middle" x="{x}" y="{height + 10}">'
                  f'{FLOOR}, {format_value(floor)}</text>']
    return "\n".join([*lines, "</svg>"]) + "\n"


def describe(table, column, scale, kinds):
    better = "more is better" if table.is_more_better else "less is better"
    names = {"daemon": "dbus-daemon", "broker": "dbus-broker", NONE: "no bus"}
    shades = f"; dark to light: {', '.join(map(names.get, kinds))}" if len(kinds) > 1 else ""
    return (f"{table.title} ({column.title}; {better}{', log scale' if scale.is_log else ''}"
            f"{shades})")


def draw_row(y, name, style, by_kind, scale):
    """One bar, the shades of the brokers in front of each other, the shortest foremost."""
    yield f'<text class="name" x="{LABEL - 6}" y="{y + 11}">{escape(name)}</text>'
    for kind, value in sorted(by_kind.items(), key=lambda each: -each[1]):
        shade = SHADES[kind] if len(by_kind) > 1 else 1
        yield (f'<rect class="{style}" fill-opacity="{shade}" x="{LABEL}" y="{y}" '
               f'width="{scale.x(value) - LABEL:.1f}" height="{BAR}"/>')
    end = max(map(scale.x, by_kind.values()))
    text = " / ".join(map(format_value, by_kind.values()))
    yield f'<text x="{end + 5:.1f}" y="{y + 11}">{text}</text>'


# ---- distributions -------------------------------------------------------------------------------

def find_curves(comparison):
    """The sorted times of a post, on the first broker of each: the best of ours, the best of the
    others, the yardstick, the floor."""
    found = {}
    for peer, kind in comparison.pairs:
        if peer.group == "posts" and not peer.name.endswith(BEFORE) and peer not in found:
            if times := sorted(comparison.results.samples("latency", kind, peer.name)):
                found[peer] = f"{peer.name}, {kind}", times

    def best(n, is_wanted):
        peers = sorted(filter(is_wanted, found), key=lambda peer: statistics.median(found[peer][1]))
        return [found[peer] for peer in peers[:n]]
    return dict(best(3, lambda peer: peer.is_ours) + best(2, lambda peer: peer.style == "other")
                + best(2, lambda peer: peer.name in (YARDSTICK, FLOOR)))


def height_of(share):
    """Where a share of the posts is: 90, 99 and 99.9 % have the same distance."""
    return 48 + HEIGHT * (1 + math.log10(max(1 - share, 0.0005)) / 3.5)


def draw_curves(curves):
    points = {title: [(time, index / len(times)) for index, time in enumerate(times)
                      if index <= 0.9995 * len(times)] for title, times in curves.items()}
    scale = Scale([each[end][0] for each in points.values() for end in (0, -1)], 60, is_log=True)
    lines = [*begin("How are the times of a post distributed?", "Share of the posts, warm, that "
                    "another process has heard within a time (log scales)", HEIGHT + 90)]
    for share in (0, 0.5, 0.9, 0.99, 0.999):
        y = height_of(share)
        lines += [f'<line class="grid" x1="60" x2="{60 + WIDTH}" y1="{y:.1f}" y2="{y:.1f}"/>',
                  f'<text class="name" x="54" y="{y + 4:.1f}">{100 * share:g} %</text>']
    for power in range(7):
        if 60 <= (x := scale.x(10 ** power)) <= 60 + WIDTH:
            lines += [f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="48" '
                      f'y2="{48 + HEIGHT}"/>',
                      f'<text class="middle" x="{x:.1f}" y="{HEIGHT + 64}">{10 ** power:,} µs'
                      '</text>']
    for number, (title, each) in enumerate(points.items()):
        colour, y = COLOURS[number], 60 + ROW * number
        path = " ".join(f"{scale.x(time):.1f},{height_of(share):.1f}" for time, share in each)
        lines += [f'<polyline stroke="{colour}" points="{path}"/>',
                  f'<text x="{WIDTH + 72}" y="{y}" style="fill: {colour}">{escape(title)}</text>']
    return "\n".join([*lines, "</svg>"]) + "\n"


# ---- both ----------------------------------------------------------------------------------------

def begin(question, title, height):
    yield (f'<svg xmlns="http://www.w3.org/2000/svg" width="{LABEL + WIDTH + 120}" '
           f'height="{height}">')
    yield f"<style>{STYLE}</style>"
    yield f'<text class="title" x="8" y="18">{escape(question)}</text>'
    yield f'<text x="8" y="36">{escape(title)}</text>'


def format_value(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
