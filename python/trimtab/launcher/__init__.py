"""Start a program under observation and stand aside: standard library only, so that it starts at once."""

from trimtab.launcher.launch import Launch, Options, Steering, launch
from trimtab.launcher.run_folder import default_directory

__all__ = ["Launch", "Options", "Steering", "default_directory", "launch"]
