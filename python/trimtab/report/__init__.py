"""The report page: one file that opens without a server or a network."""

from trimtab.report.html import page, write_html

__all__ = ["page", "write_html"]
