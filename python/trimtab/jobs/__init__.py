"""Starts the processes of a job on this host, and ends them together: standard library only, so that they start at once."""

from trimtab.jobs.job import JobOptions, run_job

__all__ = ["JobOptions", "run_job"]
