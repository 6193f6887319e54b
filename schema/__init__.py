"""The one description of run directories and enumerations, and what is generated from it (README.md)."""
