"""How figures are written."""

from __future__ import annotations

import signal

from trimtab.model.enumerations import SHARE_LABELS
from trimtab.model.report import Exit, Finding

# The shares of the available core time, as people read them.
NAMES = SHARE_LABELS


def percent(share: float) -> str:
    """A share of 0 to 1; 0 % and 100 % only for what is as good as that."""
    return f"{share * 100:.1f} %" if 0.0005 <= abs(share) < 0.9995 else f"{share * 100:.0f} %"


def rounded(value: float) -> str:
    """A number of CPUs: of several processes it is a mean over time."""
    return f"{round(value, 2):g}"


def with_uncertainty(gain: float, uncertainty: float | None) -> str:
    """A gain and the half-width of its interval, both shares: `22.0 % ± 3.0 %`; no interval is exactly 0."""
    width = uncertainty or 0.0
    return f"{percent(gain)} ± {percent(width) if width >= 0.0005 else 'less than 0.1 %'}"


def seconds(value: float) -> str:
    """A duration in seconds, in the unit that suits it."""
    if value >= 1:
        return f"{value:.3g} s"
    return f"{value * 1e3:.3g} ms" if value >= 1e-3 else f"{value * 1e6:.3g} us"


def gain_words(finding: Finding) -> str:
    """What a finding could give back: by replay with its range, or at best by its formula."""
    if finding.gain_low_s <= 0:
        return f"up to {seconds(finding.gain_high_s)}"
    low, high = seconds(finding.gain_low_s), seconds(finding.gain_high_s)
    return f"about {seconds(finding.gain_s)}" + ("" if low == high else f", {low} to {high}")


def ending(ended: Exit) -> str:
    """How a program ended, from the part `exit` of its report.

    Examples:
        >>> ending(Exit(3, None))
        'exit code 3'
        >>> ending(Exit(None, "SIGABRT"))
        'killed by signal 6 (SIGABRT)'
    """
    name = ended.signal
    if not name:
        has_code = ended.code is not None
        return f"exit code {ended.code}" if has_code else "exit status unknown: the launcher was killed"
    # One without a name is called by its number already.
    number = getattr(signal, name, None)
    return f"killed by {name}" if number is None else f"killed by signal {int(number)} ({name})"
