"""Draws one chart for each table, as SVG."""

import sys

import messages
from tables import TABLES

OURS, OTHERS, YARDSTICK = "#1f6fb5", "#b8bcc2", "#6b7078"
SHADES = (1.0, 0.6)  # of the brokers, in their order


def can_draw():
    try:
        import matplotlib  # noqa: F401, PLC0415: only charts need it
    except ImportError:
        return False
    return True


def draw(comparison, message_tables, folder):
    if not can_draw():
        print("skipped: the charts, which need matplotlib (python3-matplotlib)", file=sys.stderr)
        return
    import matplotlib
    matplotlib.use("svg")
    # The same figures make the same file; text stays text.
    matplotlib.rcParams.update({"svg.hashsalt": "darwinnotify", "svg.fonttype": "none",
                                "font.family": "sans-serif", "font.size": 9})
    kinds = comparison.dbus_kinds()
    for table in TABLES:
        column, bars = find_bars(table, comparison, kinds)
        if bars:
            draw_bars(f"{table.title} ({column.title}", table.is_more_better, bars,
                      folder / f"{table.key}.svg")
    for same in messages.by_title(message_tables):
        figures = same[0].figures
        if figures:
            bars = [(label, value, OURS if is_ours else YARDSTICK, shade(kind, kinds))
                    for label, value, kind, is_ours in messages.bars_of(same)]
            draw_bars(f"{same[0].title} ({figures['unit']}", figures["isMoreBetter"], bars,
                      folder / f"{same[0].key}.svg")


def shade(kind, kinds):
    return SHADES[kinds.index(kind)] if kind in kinds else 1


def find_bars(table, comparison, kinds):
    """The first column that anybody has: label, value, colour and shade of each."""
    for column in table.columns:
        bars = [(f"{peer.name}, {kind}", value, color(peer), shade(kind, kinds))
                for peer, kind in comparison.in_order()
                if (value := column.value(comparison.results, kind, peer.name))]
        if bars:
            return column, bars
    return None, []


def color(peer):
    return OURS if peer.is_ours else YARDSTICK if peer.is_yardstick else OTHERS


def draw_bars(title, is_more_better, bars, path):
    from matplotlib import pyplot

    bars = sorted(bars, key=lambda bar: bar[1], reverse=not is_more_better)
    labels, values, colors, shades = zip(*bars)
    figure, axes = pyplot.subplots(figsize=(7.5, 0.6 + 0.2 * len(bars)))
    drawn = axes.barh(range(len(bars)), values, height=0.75, color=colors)
    for bar, alpha in zip(drawn, shades):
        bar.set_alpha(alpha)
    axes.bar_label(drawn, [format_value(value) for value in values], padding=3)
    axes.set_yticks(range(len(bars)), labels)
    # Where one is a hundred times another, a plain scale shows only that one.
    if max(values) > 50 * min(values):
        axes.set_xscale("log")
    axes.margins(x=0.12)
    better = "more" if is_more_better else "less"
    axes.set_title(f"{title}; {better} is better)", loc="left", fontsize=10)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, bbox_inches="tight", metadata={"Date": None})
    pyplot.close(figure)


def format_value(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
