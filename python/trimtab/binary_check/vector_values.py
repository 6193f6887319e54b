"""What an instruction leaves in a vector register, or takes out of one, as far as reductions are concerned."""

from __future__ import annotations

import re
from typing import Any

from capstone import x86_const as x86

from trimtab.binary_check import operands as at
from trimtab.binary_check import partial
from trimtab.binary_check.state import State
from trimtab.binary_check.values import CLEAN, Kind, Value, constant

_VECTOR = re.compile(r"[xyz]mm(\d+)")
_MOVES = re.compile(r"v?(mov([aul]p[sd]|dq[au](8|16|32|64)?|s[sd]|[dq])|lddqu)")
_SHUFFLES = re.compile(
    r"v?(psrldq|pshuf(d|[hl]w)|p?unpck[hl].*|shufp[sd]|movhlps|palignr|extract[fi]\d+(x\d)?|permilp[sd]|perm2[fi]128|"
    r"permp[sd]|permq|align[dq]|shuf[fi]\d+x\d|movs[hl]dup)"
)
# The low halves of two vectors, one behind the other.
_PAIRS = re.compile(r"v?(unpcklpd|punpcklqdq|movlhps)")
_SPREADS = re.compile(r"v(p?broadcast(s[sd]|[bwdq]|[fi]\d+(x\d)?)|movddup)|movddup")
# Operations, by the names of their instructions without the v of AVX.
_OPERATIONS = (
    (re.compile(r"add[sp][sd]|padd[bwdq]"), "sum"),
    (re.compile(r"sub[sp][sd]|psub[bwdq]"), "difference"),
    (re.compile(r"mul[sp][sd]|pmull[wdq]"), "product"),
    (re.compile(r"max[sp][sd]"), "fmax"),
    (re.compile(r"min[sp][sd]"), "fmin"),
    (re.compile(r"pmaxs[bwdq]"), "smax"),
    (re.compile(r"pmins[bwdq]"), "smin"),
    (re.compile(r"pmaxu[bwdq]"), "umax"),
    (re.compile(r"pminu[bwdq]"), "umin"),
    (re.compile(r"pand[dq]?|andp[sd]"), "and"),
    (re.compile(r"por[dq]?|orp[sd]"), "or"),
    (re.compile(r"pxor[dq]?|xorp[sd]"), "xor"),
)
_FUSED = re.compile(r"vfn?m(add|sub)(132|213|231)[sp][sd]")
_ADDENDS = {"132": 1, "213": 2, "231": 0}


def vector_of(instruction: Any, operand: Any) -> str | None:
    """The vector register of an operand, whatever its width."""
    if operand.type == x86.X86_OP_REG and (match := _VECTOR.fullmatch(instruction.reg_name(operand.reg))):
        return f"v{match[1]}"
    return None


def value_of(state: State, instruction: Any, operand: Any) -> Value:
    """What an operand holds, a register of either kind or memory."""
    if (vector := vector_of(instruction, operand)) is not None:
        return state.of(vector)
    is_register_known = operand.type != x86.X86_OP_REG or at.register_of(instruction, operand) is not None
    return at.read(state, instruction, operand) if is_register_known else CLEAN


def result_of(state: State, instruction: Any) -> Value:
    """What the first operand holds after the instruction."""
    name, parts = instruction.mnemonic, list(instruction.operands)
    if any(_is_mask(instruction, part) for part in parts):
        return CLEAN
    if _MOVES.fullmatch(name):
        return _moved(state, instruction, parts)
    sources = [part for part in parts[1:] if part.type != x86.X86_OP_IMM]
    if _PAIRS.fullmatch(name):
        pair = partial.paired(*(value_of(state, instruction, part) for part in parts[-2:]))
        if pair is not None:
            return pair
    if (
        name.removeprefix("v").startswith("pcmpeq")
        and len({vector_of(instruction, part) for part in sources}) == 1
    ):
        return _compared_with_itself(instruction, parts)
    if _SHUFFLES.fullmatch(name):
        values = [value_of(state, instruction, source) for source in sources or parts]
        uniform = _uniform(values)
        return state.mixed(*values) if uniform == CLEAN else uniform
    if _SPREADS.fullmatch(name):
        return value_of(state, instruction, parts[1])
    if _FUSED.fullmatch(name):
        return _fused(state, instruction, parts)
    return _computed(state, instruction, parts, sources)


def _compared_with_itself(instruction: Any, parts: list[Any]) -> Value:
    """All bits are set, unless the first of two operands is another register than the second."""
    is_same_register = len(parts) == 3 or vector_of(instruction, parts[0]) == vector_of(instruction, parts[1])
    return constant(-1) if is_same_register else CLEAN


def _computed(state: State, instruction: Any, parts: list[Any], sources: list[Any]) -> Value:
    """What an operation makes of its last two operands, or a mix of all that it reads."""
    operation = _operation(instruction.mnemonic)
    if operation is None or len(parts) < 2:
        read = sources if len(parts) > 2 else parts
        return state.mixed(*(value_of(state, instruction, part) for part in read))
    first, other = parts[-2:]
    if operation == "xor" and vector_of(instruction, first) == vector_of(instruction, other) is not None:
        return constant(0)
    return operated(
        state, operation, value_of(state, instruction, first), value_of(state, instruction, other)
    )


def operated(state: State, operation: str, first: Value, other: Value) -> Value:
    """What an operation makes of two values: of a place that others see, of a partial result, or of others."""
    is_difference = operation == "difference"
    name = "sum" if is_difference else operation
    if not (is_difference and first.kind is not Kind.SHARED):
        combined_value = partial.combined(name, first, other)
        if combined_value is not None:
            return combined_value
    return state.fold(name, first, other, is_first_only=is_difference)


def _operation(name: str) -> str | None:
    for text in (name, name.removeprefix("v")):
        for pattern, operation in _OPERATIONS:
            if pattern.fullmatch(text):
                return operation
    return None


def _is_mask(instruction: Any, operand: Any) -> bool:
    return (
        operand.type == x86.X86_OP_REG and re.fullmatch(r"k\d", instruction.reg_name(operand.reg)) is not None
    )


def _moved(state: State, instruction: Any, parts: list[Any]) -> Value:
    if len(parts) == 2 and not (
        instruction.mnemonic in ("movss", "movsd") and _are_vectors(instruction, parts)
    ):
        return value_of(state, instruction, parts[1])
    # The low part of one vector, the rest of another.
    values = [value_of(state, instruction, part) for part in parts[-2:]]
    return partial.met(*values)


def _are_vectors(instruction: Any, parts: list[Any]) -> bool:
    return all(vector_of(instruction, part) is not None for part in parts)


def _uniform(values: list[Value]) -> Value:
    result = values[0]
    for value in values[1:]:
        result = partial.met(result, value)
    is_start_known = result.kind is Kind.PARTIAL or partial.is_start(result)
    return result if is_start_known else CLEAN


def _fused(state: State, instruction: Any, parts: list[Any]) -> Value:
    match = _FUSED.fullmatch(instruction.mnemonic)
    addend = _ADDENDS[match[2]] if match is not None else 0
    values = [value_of(state, instruction, part) for part in parts]
    is_added = match is not None and match[1] == "add"
    factors = [value for position, value in enumerate(values) if position != addend]
    if not is_added or any(factor.kind is Kind.PARTIAL for factor in factors):
        return CLEAN
    return state.fold("sum", values[addend], state.mixed(*factors))
