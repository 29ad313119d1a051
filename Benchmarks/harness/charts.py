"""Draws bars as SVG, for each table whose chart answers a question."""

import math
from html import escape

from tables import TABLES

SHADES = {"daemon": 1.0, "broker": 0.6, "none": 0.8}
ROW, BAR, LABEL, WIDTH = 18, 13, 230, 430  # lengths in pixels
STYLE = """text { font: 12px sans-serif; fill: #1f2328 } .name { text-anchor: end }
.title { font-size: 14px; font-weight: bold }
.ours { fill: #1f6fb5 } .yardstick { fill: #6b7078 } .other { fill: #b8bcc2 }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .ours { fill: #4c9be8 } }"""


def draw(comparison, folder):
    for table in TABLES:
        if table.question and (bars := find_bars(table, comparison)):
            (folder / f"{table.key}.svg").write_text(draw_bars(table, *bars))


def find_bars(table, comparison):
    """The first column that anybody has, and for each: label, value, colour and shade."""
    for column in table.columns:
        bars = [(f"{name}, {kind}", value, style, SHADES.get(kind, 1))
                for name, kind, style in comparison.rows(table)
                if (value := column.value(comparison.results, kind, name))]
        if bars:
            return column, sorted(bars, key=lambda bar: bar[1], reverse=table.is_more_better)
    return None


def draw_bars(table, column, bars):
    values = [value for _, value, _, _ in bars]
    # Where one is a hundred times another, a plain scale shows only that one.
    is_log = max(values) > 50 * min(values)
    low, high = (math.log(min(values) / 2), math.log(max(values))) if is_log else (0, max(values))
    better = "more is better" if table.is_more_better else "less is better"
    title = f"{table.title} ({column.title}; {better}{', log scale' if is_log else ''})"
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{LABEL + WIDTH + 80}" '
             f'height="{ROW * len(bars) + 56}">', f"<style>{STYLE}</style>",
             f'<text class="title" x="8" y="18">{escape(table.question)}</text>',
             f'<text x="8" y="36">{escape(title)}</text>']
    for number, (label, value, style, shade) in enumerate(bars):
        y = 48 + ROW * number
        width = WIDTH * ((math.log(value) if is_log else value) - low) / (high - low)
        lines += [f'<text class="name" x="{LABEL - 6}" y="{y + 11}">{escape(label)}</text>',
                  f'<rect class="{style}" fill-opacity="{shade}" x="{LABEL}" y="{y}" '
                  f'width="{width:.1f}" height="{BAR}"/>',
                  f'<text x="{LABEL + width + 5:.1f}" y="{y + 11}">{format_value(value)}</text>']
    return "\n".join([*lines, "</svg>"]) + "\n"


def format_value(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
