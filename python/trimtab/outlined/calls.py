"""What an outlined function may call: the two questions of a static loop, and functions without effects."""

from __future__ import annotations

from trimtab.outlined.operands import store_outside
from trimtab.outlined.state import SCRATCH, Refused, State
from trimtab.outlined.values import CLEAN, THREAD, THREADS, Kind, symbol

_NAMES = (
    "acos acosh asin asinh atan atanh cbrt ceil cos cosh erf erfc exp exp2 exp10 expm1 fabs floor log log10 log1p log2 "
    "nearbyint rint round sin sinh sqrt tan tanh tgamma trunc atan2 copysign fdim fma fmax fmin fmod hypot pow remainder"
)
# Of libm: no effects but errno, which is the thread's own, and no state that they read but the rounding mode.
_PURE = {name + kind for name in _NAMES.split() for kind in ("", "f", "l")}
_PURE |= {f"__{name}_finite" for name in _PURE}
# Write only where they are told to, by their first argument.
_FILL = {"memset", "memcpy", "memmove"}
_ENDS = {"__stack_chk_fail"}


def call(state: State, name: str) -> bool:
    """The function `name` of another object is called and comes back. False: it does not."""
    if name in _ENDS:
        return False
    result = CLEAN
    if name == "omp_get_thread_num":
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
            where = state.registers[register]
            if where.kind is Kind.FRAME:
                state.store(where.base, where.offset, 8 if name == "sincos" else 4, CLEAN)
            else:
                state.use(where, name)
                store_outside(state, CLEAN)
    elif name not in _PURE:
        raise Refused(f"it calls {name}")
    for register in SCRATCH:
        state.set(register, CLEAN)
    state.set("rax", result)
    state.flags = False
    return True


def _check_argument(state: State, register: str, name: str) -> None:
    value = state.registers[register]
    if value.kind is Kind.FRAME:
        raise Refused(f"it calls {name} with the address of one of its variables")
    state.use(value, name)
