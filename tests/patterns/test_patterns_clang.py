"""The matrix of patterns, built by clang++-19."""

from pattern_tests import PatternTests


class TestPatterns(PatternTests):
    COMPILER = "clang++-19"
