"""Is a program's answer still right when Trimtab changes how it runs? Runs it without and with, and compares."""

from trimtab.answer_check.checked import Checked, check
from trimtab.answer_check.compare import Rules
from trimtab.answer_check.outputs import Pattern
from trimtab.answer_check.sides import CheckError, Options

__all__ = ["CheckError", "Checked", "Options", "Pattern", "Rules", "check"]
