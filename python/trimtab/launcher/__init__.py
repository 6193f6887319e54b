"""Start a program under observation and stand aside: standard library only, so that it starts at once."""

from trimtab.launcher.job import Job, job_of
from trimtab.launcher.job_folder import directory_of_job, is_open_to
from trimtab.launcher.launch import Launch, Options, Steering, launch
from trimtab.launcher.run_folder import default_directory

__all__ = [
    "Job",
    "Launch",
    "Options",
    "Steering",
    "default_directory",
    "directory_of_job",
    "is_open_to",
    "job_of",
    "launch",
]
