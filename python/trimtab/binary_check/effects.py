"""What one instruction does to what is known. Each that is not understood is refused.

Vectors are in a file of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from capstone import x86_const as x86

from trimtab.binary_check import choices, combine, partial, vector_values, vectors
from trimtab.binary_check import operands as at
from trimtab.binary_check.state import Refused, State
from trimtab.binary_check.values import (
    CLEAN,
    LOST,
    THREADS,
    Kind,
    Value,
    constant,
    quotient,
    remainder,
    symbol,
)

# Those that only compute: what they give is clean if all is clean that they read.
_COMPUTE = set(
    [
        "and",
        "or",
        "xor",
        "shl",
        "sal",
        "shr",
        "sar",
        "rol",
        "ror",
        "not",
        "neg",
        "adc",
        "sbb",
        "bswap",
        "bsf",
        "bsr",
        "tzcnt",
        "lzcnt",
        "popcnt",
        "andn",
        "bextr",
        "blsr",
        "blsi",
        "blsmsk",
        "bzhi",
        "rorx",
        "sarx",
        "shlx",
        "shrx",
        "pdep",
        "pext",
        "shld",
        "shrd",
        "bts",
        "btr",
        "btc",
    ]
)
_MOVES = {"mov", "movabs", "movzx", "movsx", "movsxd"}
_EXTENDS = {"cdqe": 4, "cwde": 2, "cbw": 1}
_NOTHING = {
    "nop",
    "endbr64",
    "vzeroupper",
    "vzeroall",
    "emms",
    "pause",
    "lfence",
    "sfence",
    "prefetcht0",
    "prefetcht1",
    "prefetcht2",
    "prefetchnta",
    "prefetchw",
    "fnop",
    "wait",
}
# Whose flags tell whether what they leave is 0, whatever they shift by (GCC does not ask after shifts by 0).
_SET_ZERO = {"and", "or", "xor", "sar", "shr", "shl"}
_STRINGS = ("stosb", "stosw", "stosd", "stosq", "movsb", "movsw", "movsq")


def apply(state: State, instruction: Any) -> None:
    """One that neither jumps, calls nor returns."""
    name = instruction.mnemonic
    state.site = instruction.address
    if instruction.eflags:
        state.compared, state.tested, state.is_outcome = None, 0, False
    if "lock" in name.split() or instruction.prefix[0] == x86.X86_PREFIX_LOCK:
        combine.atomic(state, instruction)
    elif name.startswith(("rep ", "repe ", "repz ")) or name in _STRINGS:
        _string(state, instruction)
    elif name in _NOTHING or name.startswith("nop"):
        pass
    elif name == "xchg" and all(at.register_of(instruction, part) for part in instruction.operands):
        _exchange(state, instruction)
    elif name in _EFFECTS:
        _EFFECTS[name](state, instruction)
    elif vectors.is_understood(instruction):
        vectors.apply(state, instruction)
    else:
        raise Refused(f"instruction not understood: {name} {instruction.op_str}")


def _exchange(state: State, instruction: Any) -> None:
    first, second = instruction.operands
    values = at.read(state, instruction, first), at.read(state, instruction, second)
    at.write(state, instruction, first, values[1])
    at.write(state, instruction, second, values[0])


def _load_address(state: State, instruction: Any) -> None:
    to, source = instruction.operands
    value = at.address_of(state, instruction, source)
    at.write(state, instruction, to, state.truncated(value, to.size))


def _push(state: State, instruction: Any) -> None:
    value = at.read(state, instruction, instruction.operands[0])
    top = state.sum_of(state.registers["rsp"], constant(-8))
    state.set_top(top)
    state.store(top.base, top.offset, 8, value)


def _pop(state: State, instruction: Any) -> None:
    top = state.registers["rsp"]
    value = state.load(top.base, top.offset, 8)
    state.set_top(state.sum_of(top, constant(8)))
    at.write(state, instruction, instruction.operands[0], value)


def _leave(state: State, _: Any) -> None:
    top = state.registers["rbp"]
    if top.kind is not Kind.FRAME:
        raise Refused("its stack pointer cannot be followed")
    state.set("rbp", state.load(top.base, top.offset, 8))
    state.set_top(state.sum_of(top, constant(8)))


def _wide_product(state: State, instruction: Any) -> None:
    """`mul`: of rax and the operand, into rdx and rax."""
    factor = at.read(state, instruction, instruction.operands[0])
    _use_all(state, instruction, [factor, state.registers["rax"]])
    state.set("rax", CLEAN)
    state.set("rdx", CLEAN)
    state.flags = True


def _flagless_product(state: State, instruction: Any) -> None:
    """`mulx`: of rdx and the last operand, into the first two."""
    high, low, factor = instruction.operands
    _use_all(state, instruction, [state.registers["rdx"], at.read(state, instruction, factor)])
    at.write(state, instruction, high, CLEAN)
    at.write(state, instruction, low, CLEAN)


def _extend_sign(state: State, _: Any) -> None:
    # The sign of T, N and what is made of them is no more than the compiler may know.
    state.set("rdx", CLEAN if state.is_usable(state.registers["rax"]) else LOST)


def _extend(state: State, instruction: Any) -> None:
    state.set("rax", state.truncated(state.registers["rax"], _EXTENDS[instruction.mnemonic]))


def _test_bit(state: State, instruction: Any) -> None:
    _use_all(state, instruction, [at.read(state, instruction, part) for part in instruction.operands])
    state.flags = True


def _use_all(state: State, instruction: Any, values: list[Value]) -> None:
    for value in values:
        state.use(value, f"a computation ({instruction.mnemonic} {instruction.op_str})")


def _move(state: State, instruction: Any) -> None:
    to, source = instruction.operands
    if to.type == x86.X86_OP_REG and at.register_of(instruction, to) is None:
        raise Refused(f"instruction not understood: {instruction.mnemonic} {instruction.op_str}")
    number = choices.number_of(state, instruction, source)
    at.write(state, instruction, to, choices.moved(state, instruction, to, source))
    choices.copy_number(state, instruction, to, number)
    if at.register_of(instruction, to) == "rax" and instruction.mnemonic == "mov" and to.size >= 4:
        if source.type == x86.X86_OP_IMM:
            state.copied = f"{source.imm}"
        else:
            state.copied = at.register_of(instruction, source) or ""


def _sum(state: State, instruction: Any) -> None:
    to = instruction.operands[0]
    first = at.read(state, instruction, to)
    name = instruction.mnemonic
    other = constant(1) if name in ("inc", "dec") else at.read(state, instruction, instruction.operands[1])
    is_zeroed = name == "sub" and _is_same_register(instruction)
    result = constant(0) if is_zeroed else _added(state, first, other, name in ("sub", "dec"))
    at.write(state, instruction, to, result)
    state.flags = is_zeroed or all(
        state.is_usable(value) or value.kind is Kind.FRAME for value in (first, other)
    )


def _added(state: State, first: Value, other: Value, is_difference: bool) -> Value:
    """Like any sum, but of what reductions make."""
    if partial.is_start(first) and (
        (state.is_usable(other) and other.kind is not Kind.TERMS) or other.is_constant
    ):
        gathered = vector_values.operated(state, "difference" if is_difference else "sum", first, other)
        if gathered.kind is Kind.PARTIAL:
            return gathered
    elif Kind.SHARED in (first.kind, other.kind):
        gathered = vector_values.operated(state, "difference" if is_difference else "sum", first, other)
        if gathered.kind is Kind.COMBINED:
            return gathered
    return state.sum_of(first, other, -1 if is_difference else 1)


def _is_same_register(instruction: Any) -> bool:
    first, other = instruction.operands[:2]
    return bool(first.type == other.type == x86.X86_OP_REG and first.reg == other.reg)


def _product(state: State, instruction: Any) -> None:
    parts = instruction.operands
    if len(parts) == 1:
        _use_all(state, instruction, [at.read(state, instruction, parts[0]), state.registers["rax"]])
        state.set("rax", CLEAN)
        state.set("rdx", CLEAN)
    else:
        first, other = (at.read(state, instruction, part) for part in parts[-2:])
        gathered = vector_values.operated(state, "product", first, other)
        is_power = (
            gathered.kind in (Kind.PARTIAL, Kind.COMBINED)
            and state.is_usable(first)
            and state.is_usable(other)
        )
        is_number = first.is_constant and other.is_constant
        at.write(
            state,
            instruction,
            parts[0],
            gathered if is_power and not is_number else state.product_of(first, other),
        )
    state.flags = False


def _division(state: State, instruction: Any) -> None:
    factor, divisor = instruction.operands[0], at.read(state, instruction, instruction.operands[0])
    low, high = state.registers["rax"], state.registers["rdx"]
    state.flags = False
    if divisor != symbol(THREADS) or factor.size < 4:
        _use_all(state, instruction, [divisor, low, high])
        result = state.mixed(divisor, low, high)
        state.set("rax", result)
        return state.set("rdx", result)
    _use_all(state, instruction, [low, high])
    copied = state.copied
    if state.divided is not None and copied and state.divided[1] == copied:
        division = state.divided[0]
    else:
        division = instruction.address
        state.forget(division)
    state.set("rax", symbol(quotient(division)))
    state.set("rdx", symbol(remainder(division)))
    state.divided = (division, copied) if copied else None
    return None


def _compare(state: State, instruction: Any) -> None:
    first, other = (at.read(state, instruction, operand) for operand in instruction.operands)
    if instruction.mnemonic == "test":
        if not _is_same_register(instruction):
            state.flags = state.is_usable(first) and state.is_usable(other)
            return
        other = constant(0)
    if Kind.FRAME in (first.kind, other.kind):
        state.flags = all(state.is_usable(value) or value.kind is Kind.FRAME for value in (first, other))
        return
    if instruction.operands[0].size < 4:
        state.flags = state.is_usable(first) and state.is_usable(other)
        return
    state.flags = (first, other)
    if instruction.mnemonic == "cmp":
        choices.compare(state, instruction)
        # What was expected with what was found.
        state.is_outcome = state.registers["rax"] in (first, other) and first.kind is not other.kind
        state.is_outcome &= state.registers["rax"].kind is Kind.SHARED
    else:
        choices.test(state, instruction)


def _compute(state: State, instruction: Any) -> None:
    parts, name = instruction.operands, instruction.mnemonic
    if at.register_of(instruction, parts[0]) == "rsp":
        if name != "and":
            raise Refused("its stack pointer cannot be followed")
        return state.align(instruction.address)
    if name in ("xor", "sbb") and _is_same_register(instruction):
        if name == "sbb" and not state.are_flags_clean():
            raise Refused("what is compared with the number of the thread goes into a computation")
        at.write(state, instruction, parts[0], constant(0) if name == "xor" else CLEAN)
        state.flags = True
        return None
    if name == "or" and parts[1].type == x86.X86_OP_IMM and parts[1].imm in (-1, 0xFFFFFFFF):
        at.write(state, instruction, parts[0], constant(-1))
        state.flags = True
        return None
    if name in ("adc", "sbb") and not state.are_flags_clean():
        raise Refused("what is compared with the number of the thread goes into a computation")
    values = [at.read(state, instruction, part) for part in parts]
    addresses = [value for value in values if value.kind is Kind.FRAME]
    _use_all(state, instruction, [value for value in values if value.kind is not Kind.FRAME])
    result = LOST if addresses else state.mixed(*values)
    if name in ("and", "or", "xor") and not addresses:
        result = vector_values.operated(state, name, *values)
    at.write(state, instruction, parts[0], result)
    state.flags = not addresses
    if name in _SET_ZERO:
        choices.test(state, instruction)
    return None


def _string(state: State, instruction: Any) -> None:
    if not instruction.mnemonic.endswith(_STRINGS):
        raise Refused(f"instruction not understood: {instruction.mnemonic} {instruction.op_str}")
    is_copy = "movs" in instruction.mnemonic
    to = state.registers["rdi"]
    sources = ["rcx", "rsi"] if is_copy else ["rcx", "rax"]
    _use_all(state, instruction, [state.registers[source] for source in sources])
    if to.kind is Kind.FRAME:
        state.store(to.base, None, 8, CLEAN)
    else:
        _use_all(state, instruction, [to])
        at.store_outside(state, CLEAN)
    for register in ("rcx", "rsi", "rdi") if is_copy else ("rcx", "rdi"):
        state.set(register, LOST if state.registers[register].kind is Kind.FRAME else CLEAN)


_EFFECTS: dict[str, Callable[[State, Any], None]] = {
    **dict.fromkeys(_COMPUTE, _compute),
    **dict.fromkeys(_MOVES, _move),
    **dict.fromkeys(_EXTENDS, _extend),
    **dict.fromkeys(("add", "sub", "inc", "dec"), _sum),
    **dict.fromkeys(("div", "idiv"), _division),
    **dict.fromkeys(("cdq", "cqo", "cwd"), _extend_sign),
    **dict.fromkeys(("cmp", "test"), _compare),
    "lea": _load_address,
    "push": _push,
    "pop": _pop,
    "leave": _leave,
    "imul": _product,
    "mul": _wide_product,
    "mulx": _flagless_product,
    "bt": _test_bit,
}
