"""Read run directories. The bytes are those of docs/reference/run-directory.md (schema/)."""

from trimtab.readers.run import open_run, read_info

__all__ = ["open_run", "read_info"]
