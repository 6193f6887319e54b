"""Start a program under observation and stand aside: standard library only, so that it starts at once."""

from trimtab.launcher.launch import Launch, Options, Steering, default_directory, launch

__all__ = ["Launch", "Options", "Steering", "default_directory", "launch"]
