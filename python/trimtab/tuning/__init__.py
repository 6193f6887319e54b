"""Runs that are changed while they go on: what is known before, what the program is started with, what is remembered."""

from trimtab.tuning.single_run import Prepared, Tuning, prepare, remember
from trimtab.tuning.start import StartValue, start_values

__all__ = ["Prepared", "StartValue", "Tuning", "prepare", "remember", "start_values"]
