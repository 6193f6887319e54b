"""What a terminal shows."""

from trimtab.text.comparison import comparison
from trimtab.text.diagnosis import diagnosis
from trimtab.text.tables import run_list, tables
from trimtab.text.verdict import verdict

__all__ = ["comparison", "diagnosis", "run_list", "tables", "verdict"]
