"""The matrix of patterns, built by gfortran."""

from pattern_tests import PatternTests


class TestPatterns(PatternTests):
    COMPILER = "gfortran"
