"""The report page: one file that opens without a server or a network."""

from trimtab.report.html import page, write_html
from trimtab.report.lane_page import LanePage, lane_page

__all__ = ["LanePage", "lane_page", "page", "write_html"]
