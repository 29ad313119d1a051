"""Keeps the samples of all runs, with what can be said about them."""

import statistics
from collections import defaultdict

from peers import DBUS, YARDSTICK


class Results:
    """Samples by figure, broker and contender, one list for each round."""

    def __init__(self):
        self.rounds = defaultdict(dict)  # (figure, kind, peer) -> {round: [samples]}
        self.reasons = {}                # (figure or measure, kind, peer) -> why there is none

    def add(self, kind, peer, number, figures):
        for figure, value in figures.items():
            samples = list(value) if isinstance(value, list) else [value]
            self.rounds[figure, kind, peer].setdefault(number, []).extend(samples)

    def give_reason(self, measure, kind, peer, reason):
        self.reasons.setdefault((measure, kind, peer), reason)

    def has(self, figure):
        return any(figure == its_figure for its_figure, _, _ in self.rounds)

    def samples(self, figure, kind, peer):
        rounds = self.rounds.get((figure, kind, peer), {})
        return [sample for number in sorted(rounds) for sample in rounds[number]]

    def median(self, figure, kind, peer):
        samples = self.samples(figure, kind, peer)
        return statistics.median(samples) if samples else None

    def percentile(self, percent, figure, kind, peer):
        samples = sorted(self.samples(figure, kind, peer))
        return samples[min(len(samples) - 1, len(samples) * percent // 100)] if samples else None

    def ratio(self, *figure, **to):
        """Median over the rounds of what a round has, against the same round of another."""
        ratios = self.ratios_in_rounds(*figure, **to)
        return statistics.median(ratios) if ratios else None

    def spread(self, *figure, **to):
        """Half of the rounds are within this of the middle of their ratios."""
        ratios = self.ratios_in_rounds(*figure, **to)
        if len(ratios) < 2:
            return None
        low, _, high = statistics.quantiles(ratios, n=4, method="inclusive")
        return (high - low) / 2

    def ratios_in_rounds(self, figure, kind, peer, to=YARDSTICK, to_figure=None, to_kind=None):
        own = self.rounds.get((figure, kind, peer), {})
        other = self.rounds.get((to_figure or figure, to_kind or kind, to), {})
        return [statistics.median(own[number]) / base for number in own.keys() & other.keys()
                if (base := statistics.median(other[number]))]

    def ratios(self, figure, kind, peer, to=YARDSTICK):
        """To another on the same broker; to one that is not there, on each D-Bus, in order."""
        same = self.ratio(figure, kind, peer, to)
        others = [] if kind in DBUS or same is not None else DBUS
        ratios = [same, *(self.ratio(figure, kind, peer, to, to_kind=its) for its in others)]
        return [ratio for ratio in ratios if ratio is not None]

    def contenders(self, figure):
        """Who has it: pairs of a contender and a broker."""
        return [(peer, kind) for its_figure, kind, peer in self.rounds if its_figure == figure]

    def reasons_of(self, measures, kind, peer):
        """Why figures of measures are missing; "names" stands for "names_1", "names_100" …"""
        return [(measure, reason) for (measure, its_kind, its_peer), reason in self.reasons.items()
                if (its_kind, its_peer) == (kind, peer)
                and any(measure in (key, f"{key}_{measure.rpartition('_')[2]}")
                        for key in measures)]

    def to_json(self):
        return [{"figure": figure, "broker": kind, "peer": peer,
                 "median": self.median(figure, kind, peer),
                 "p99": self.percentile(99, figure, kind, peer),
                 "samples": sum(map(len, rounds.values())),
                 "medians": [statistics.median(rounds[number]) for number in sorted(rounds)]}
                for (figure, kind, peer), rounds in self.rounds.items()]

    def reasons_to_json(self):
        return [{"measure": measure, "broker": kind, "peer": peer, "reason": reason}
                for (measure, kind, peer), reason in self.reasons.items()]
