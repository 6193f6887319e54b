"""The matrix of patterns, built by g++."""

from pattern_tests import PatternTests


class TestPatterns(PatternTests):
    COMPILER = "g++"
