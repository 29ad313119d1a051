"""Draws one chart for each table, as SVG."""

import sys

import peers
from tables import TABLES

OURS, OTHERS, YARDSTICK = "#1f6fb5", "#b8bcc2", "#6b7078"
SHADES = (1.0, 0.6)  # of the brokers, in their order


def can_draw():
    try:
        import matplotlib  # noqa: F401, PLC0415: only charts need it
    except ImportError:
        return False
    return True


def draw(comparison, folder):
    if not can_draw():
        print("skipped: the charts, which need matplotlib (python3-matplotlib)", file=sys.stderr)
        return
    import matplotlib
    matplotlib.use("svg")
    # The same figures make the same file; text stays text.
    matplotlib.rcParams.update({"svg.hashsalt": "darwinnotify", "svg.fonttype": "none",
                                "font.family": "sans-serif", "font.size": 9})
    for table in TABLES:
        draw_table(table, comparison, folder / f"{table.key}.svg")


def find_bars(table, comparison):
    """The first column that anybody has: who, on what, how much."""
    for column in table.columns:
        bars = [(peer, kind, column.value(comparison.results, kind, peer.name))
                for peer, kind in comparison.in_order()]
        bars = [bar for bar in bars if bar[2]]
        if bars:
            return column, bars
    return None, []


def draw_table(table, comparison, path):
    from matplotlib import pyplot

    column, bars = find_bars(table, comparison)
    if not bars:
        return
    bars.sort(key=lambda bar: bar[2], reverse=not table.is_more_better)
    figure, axes = pyplot.subplots(figsize=(7.5, 0.6 + 0.2 * len(bars)))
    values = [value for _, _, value in bars]
    kinds = comparison.dbus_kinds()
    drawn = axes.barh(range(len(bars)), values, height=0.75)
    for bar, (peer, kind, _) in zip(drawn, bars):
        is_yardstick = peer.name == peers.YARDSTICK
        bar.set_color(OURS if peer.is_ours else YARDSTICK if is_yardstick else OTHERS)
        bar.set_alpha(SHADES[kinds.index(kind)] if kind in kinds else 1)
    axes.bar_label(drawn, [format_value(value) for value in values], padding=3)
    axes.set_yticks(range(len(bars)), [f"{peer.name}, {kind}" for peer, kind, _ in bars])
    # Where one is a hundred times another, a plain scale shows only that one.
    if max(values) > 50 * min(values):
        axes.set_xscale("log")
    axes.margins(x=0.12)
    better = "more" if table.is_more_better else "less"
    axes.set_title(f"{table.title} ({column.title}; {better} is better)", loc="left", fontsize=10)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, bbox_inches="tight", metadata={"Date": None})
    pyplot.close(figure)


def format_value(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
