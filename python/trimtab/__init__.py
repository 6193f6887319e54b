"""Trimtab shows why a parallel program's cores are idle."""

__version__ = "0.1.0"
