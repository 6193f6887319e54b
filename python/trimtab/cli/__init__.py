"""The command."""

from __future__ import annotations

from trimtab.cli.main import main

__all__ = ["main"]
