"""OTF2, the trace format of Score-P and Vampir, through the C library that the PyPI package otf2 brings along."""

from trimtab.otf2.library import Failure, Library, MissingPackage, load

__all__ = ["Failure", "Library", "MissingPackage", "load"]
