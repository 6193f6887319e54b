"""Benchmarks of Trimtab: `./x bench` (docs/performance)."""
