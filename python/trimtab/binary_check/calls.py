"""What an outlined function may call: the two questions of a static loop, and functions without effects."""

from __future__ import annotations

import re

from trimtab.binary_check import combine
from trimtab.binary_check.operands import store_outside
from trimtab.binary_check.state import SCRATCH, Refused, State
from trimtab.binary_check.values import CLEAN, OF_BLOCK, THREAD, THREADS, Kind, symbol

_NAMES = (
    "acos acosh asin asinh atan atanh cbrt ceil cos cosh erf erfc exp exp2 exp10 expm1 fabs floor log log10 log1p log2 "
    "nearbyint rint round sin sinh sqrt tan tanh tgamma trunc atan2 copysign fdim fma fmax fmin fmod hypot pow remainder"
)
# Of libm: no effects but errno, which is the thread's own, and no state that they read but the rounding mode.
_PURE = {name + kind for name in _NAMES.split() for kind in ("", "f", "l")}
_PURE |= {f"__{name}_finite" for name in _PURE}
# The same for all elements of vectors.
_PURE_VECTORS = re.compile(r"_ZGV[bcde]N\d+vv?_(\w+)")
# Write only where they are told to, by their first argument.
_FILL = {"memset", "memcpy", "memmove"}
_ENDS = {"__stack_chk_fail"}


def call(state: State, name: str, address: int) -> bool:
    """The function `name` of another object is called at `address` and comes back. False: it does not."""
    if name in _ENDS:
        return False
    result = CLEAN
    if combine.is_section(name):
        combine.section(state, name, address)
    elif name == "omp_get_thread_num":
        result = symbol(THREAD)
    elif name == "omp_get_num_threads":
        result = symbol(THREADS)
    elif name in _FILL:
        for register in ("rdi", "rsi", "rdx"):
            _check_argument(state, register, name)
        store_outside(state, CLEAN)
        result = state.registers["rdi"]
    elif name in ("sincos", "sincosf"):
        for register in ("rdi", "rsi"):
            address_value = state.registers[register]
            if address_value.kind is Kind.FRAME:
                state.store(address_value.base, address_value.offset, 8 if name == "sincos" else 4, CLEAN)
            else:
                state.use(address_value, name)
                store_outside(state, CLEAN)
    elif name not in _PURE and not _is_pure_vector(name):
        raise Refused(f"it calls {name}")
    for register in SCRATCH:
        state.set(register, CLEAN)
    is_of_block = state.is_of_block(state.of("v0"))
    for number in range(32):
        state.set_vector(f"v{number}", CLEAN)
    if is_of_block and name not in _FILL:
        state.set_vector("v0", OF_BLOCK)
    state.set("rax", result)
    state.flags = False
    state.compared = None
    return True


def _is_pure_vector(name: str) -> bool:
    match = _PURE_VECTORS.fullmatch(name)
    return match is not None and match[1] in _PURE


def _check_argument(state: State, register: str, name: str) -> None:
    value = state.registers[register]
    if value.kind is Kind.FRAME:
        raise Refused(f"it calls {name} with the address of one of its variables")
    state.use(value, name)
