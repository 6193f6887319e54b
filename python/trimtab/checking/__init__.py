"""Is a program's answer still right when Trimtab changes how it runs? Runs it without and with, and compares."""

from trimtab.checking.checked import Checked, check
from trimtab.checking.compare import Rules
from trimtab.checking.outputs import Pattern
from trimtab.checking.sides import CheckError, Options

__all__ = ["CheckError", "Checked", "Options", "Pattern", "Rules", "check"]
