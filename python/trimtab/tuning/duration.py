"""How long `trimtab tune` takes at most."""

from __future__ import annotations

from dataclasses import dataclass

from trimtab.tuning.multi_run import MORE_PAIRS

# What `trimtab run` itself needs for a run, until it was measured.
USUAL_OVERHEAD_S = 0.5
# A whole program that is slower than this, twice in turn, is not measured further.
_SLOWEST = 1.3


@dataclass(frozen=True)
class Plan:
    """The runs that there may be.

    Attributes:
        learning_runs: that search.
        budget_percent: that a search may cost.
        settings: that are tried, at most.
        pairs: of runs for each of them, and for the proof, unless there have to be more.
    """

    learning_runs: int
    budget_percent: int
    settings: int
    pairs: int

    def most_s(self, bare_s: float, overhead_s: float = USUAL_OVERHEAD_S) -> float:
        """In a program that takes `bare_s` as its user starts it.

        A setting is given up as soon as it has lost more pairs than it may: what is measured to the last pair is as fast as
        the program without it. A run that takes three times as long is ended.
        """
        searching = self.learning_runs * (bare_s * (1 + self.budget_percent / 100) + overhead_s)
        return searching + self.trials_s(bare_s, overhead_s)

    def trials_s(self, bare_s: float, overhead_s: float = USUAL_OVERHEAD_S) -> float:
        """The part of it after the runs that search."""
        pairs = self.pairs + MORE_PAIRS
        trying = self.settings * pairs * 2 * (bare_s + overhead_s)
        proving = pairs * ((1 + _SLOWEST) * bare_s + overhead_s)
        # A run with half the threads tells what limits the program.
        return trying + proving + 2 * bare_s + overhead_s


def duration_text(seconds: float) -> str:
    """For people.

    >>> duration_text(42.4), duration_text(600)
    ('43 s', '10 min')
    """
    return f"{int(seconds) + 1} s" if seconds < 120 else f"{round(seconds / 60)} min"
