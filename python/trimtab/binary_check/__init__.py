"""Outlined functions of GCC's: which of them may be run by more, virtual threads than the team has.

GCC compiles a static loop in place: the function that it makes of a region asks for the number of its thread and for how
many there are, and works out its block itself. Such a function does the same work when it is called V times with the numbers
0 to V-1 of V threads, by whichever threads there are, if nothing else in it depends on these two answers, and if a thread
without iterations does nothing. Both are checked here, on the machine code: whatever is not understood is refused.
"""

from trimtab.binary_check.check import Outlined, check_file, check_program

__all__ = ["Outlined", "check_file", "check_program"]
