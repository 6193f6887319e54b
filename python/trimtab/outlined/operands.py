"""Operands of x86-64 instructions: registers by their whole name, addresses, reading and writing of both."""

from __future__ import annotations

from typing import Any

from capstone import x86_const as x86

from trimtab.outlined.state import GENERAL, Refused, State
from trimtab.outlined.values import CLEAN, LOST, Kind, Value, constant

_LETTERS = {"a": "rax", "b": "rbx", "c": "rcx", "d": "rdx"}
_STACK_PROTECTOR = 0x28


def whole_name(name: str) -> str | None:
    """The 64-bit register that `name` is a part of; None: no general one."""
    if name in GENERAL:
        return name
    if name.startswith("e") and "r" + name[1:] in GENERAL:
        return "r" + name[1:]
    if name[:1] == "r" and name[-1] in "dwb" and name[:-1] in GENERAL:
        return name[:-1]
    if len(name) == 2 and name[0] in _LETTERS and name[1] in "lhx":
        return _LETTERS[name[0]]
    if name in ("si", "di", "bp", "sp", "sil", "dil", "bpl", "spl"):
        return "r" + name[:2]
    return None


def register_of(instruction: Any, operand: Any) -> str | None:
    """The whole register of an operand; None: no general register."""
    if operand.type != x86.X86_OP_REG:
        return None
    return whole_name(instruction.reg_name(operand.reg))


def is_vector(instruction: Any) -> bool:
    """Whether it has an operand in a register that is neither general nor a segment's: SSE, AVX, masks, x87."""
    for operand in instruction.operands:
        if operand.type == x86.X86_OP_REG:
            name = instruction.reg_name(operand.reg)
            if name.startswith(("xmm", "ymm", "zmm", "k", "st", "mm")):
                return True
    return False


def address_of(state: State, instruction: Any, operand: Any) -> Value:
    """The address of a memory operand: CLEAN outside the frame, else where in it."""
    memory = operand.mem
    if memory.segment:
        raise Refused("it uses thread-local storage")
    value = constant(memory.disp)
    base = instruction.reg_name(memory.base) if memory.base else None
    index = instruction.reg_name(memory.index) if memory.index else None
    for name, scale in ((base, 1), (index, memory.scale)):
        if name is None or name == "rip" or name.startswith(("xmm", "ymm", "zmm")):
            if name is not None:
                value = state.sum_of(value, CLEAN)
            continue
        whole = whole_name(name)
        if whole is None or name != whole:
            raise Refused(f"it addresses memory in a way that is not understood: {instruction.op_str}")
        part = state.registers[whole]
        value = state.sum_of(value, part if scale == 1 else state.product_of(part, constant(scale)))
    return value


def checked_address(state: State, instruction: Any, operand: Any) -> Value:
    """The same of memory that is read or written: T and N must not be in it."""
    value = address_of(state, instruction, operand)
    if value.kind is not Kind.FRAME:
        state.use(value, f"an address ({instruction.mnemonic} {instruction.op_str})")
        return CLEAN
    return value


def is_stack_protector(instruction: Any, operand: Any) -> bool:
    """The one place in thread-local storage that may be read."""
    memory = operand.mem
    return (
        memory.segment != 0
        and instruction.reg_name(memory.segment) == "fs"
        and not memory.base
        and not memory.index
        and memory.disp == _STACK_PROTECTOR
    )


def read(state: State, instruction: Any, operand: Any) -> Value:
    """What a general operand has."""
    if operand.type == x86.X86_OP_IMM:
        return constant(operand.imm)
    if operand.type == x86.X86_OP_REG:
        name = register_of(instruction, operand)
        if name is None:
            raise Refused(f"instruction not understood: {instruction.mnemonic} {instruction.op_str}")
        value = state.registers[name]
        if instruction.reg_name(operand.reg) in ("ah", "bh", "ch", "dh"):
            return CLEAN if state.is_usable(value) else LOST
        return state.truncated(value, operand.size)
    if is_stack_protector(instruction, operand):
        return CLEAN
    address = checked_address(state, instruction, operand)
    if address.kind is Kind.FRAME:
        return state.load(address.base, address.offset, operand.size)
    return CLEAN


def write(state: State, instruction: Any, operand: Any, value: Value) -> None:
    """Put it into a general operand."""
    if operand.type == x86.X86_OP_REG:
        name = register_of(instruction, operand)
        if name is None:
            raise Refused(f"instruction not understood: {instruction.mnemonic} {instruction.op_str}")
        if name == "rsp":
            return state.set_top(value)
        if operand.size < 4:  # the rest of the register stays
            before = state.registers[name]
            value = CLEAN if state.is_usable(before) and state.is_usable(value) else LOST
        state.set(name, value)
        return None
    address = checked_address(state, instruction, operand)
    if address.kind is Kind.FRAME:
        return state.store(address.base, address.offset, operand.size, value)
    store_outside(state, value)
    return None


def store_outside(state: State, value: Value) -> None:
    """Memory that others may see is written."""
    if value.kind is Kind.FRAME:
        raise Refused("the address of one of its variables leaves it")
    state.use(value, "memory")
    if not state.is_nonempty:
        raise Refused("it stores what a thread without iterations would store, too")
