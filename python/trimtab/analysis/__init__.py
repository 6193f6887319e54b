"""From records to accounts: pure functions over arrays. Formulas: docs/reference/metrics.md."""

from trimtab.analysis.report import build

__all__ = ["build"]
