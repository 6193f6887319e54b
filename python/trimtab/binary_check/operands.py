"""Operands of x86-64 instructions: registers by their whole name, addresses, reading and writing of both."""

from __future__ import annotations

from typing import Any

from capstone import x86_const as x86

from trimtab.binary_check.state import GENERAL, Refused, State
from trimtab.binary_check.values import CLEAN, LOST, OF_BLOCK, Key, Kind, Value, constant, fixed, pointer

_LETTERS = {"a": "rax", "b": "rbx", "c": "rcx", "d": "rdx"}
_STACK_PROTECTOR = 0x28
_FILE = ("file",)  # addresses as the file counts


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
    """The address of a memory operand: a frame's, or one that others see."""
    memory = operand.mem
    if memory.segment:
        raise Refused("it uses thread-local storage")
    value = constant(memory.disp)
    base = instruction.reg_name(memory.base) if memory.base else None
    index = instruction.reg_name(memory.index) if memory.index else None
    for name, scale in ((base, 1), (index, memory.scale)):
        if name is None:
            continue
        if name == "rip":
            value = state.sum_of(value, pointer(_FILE, instruction.address + instruction.size))
            continue
        if name.startswith(("xmm", "ymm", "zmm")):
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
    return loaded(state, instruction, operand)


def loaded(state: State, instruction: Any, operand: Any) -> Value:
    """What memory holds."""
    address = checked_address(state, instruction, operand)
    if address.kind is Kind.FRAME:
        value = state.load(address.base, address.offset, operand.size)
        if address.offset is None and value == CLEAN and state.combining and address.key:
            return state.load_run(address.base, address.key[0])
        if address.offset is None and value == CLEAN:
            return state.read_element(text_key(instruction, operand))
        return value
    known_address = address_of(state, instruction, operand)
    if known_address.kind is Kind.POINTER and known_address.key == _FILE and state.code is not None:
        constants = state.code.read_only(known_address.offset or 0, operand.size)
        if constants is not None:
            return fixed(constants)
    if state.is_of_block(known_address) and not state.combining:
        return OF_BLOCK
    key = key_of(state, instruction, operand)
    return CLEAN if key is None or (key[0] == "text" and not state.combining) else state.read_shared(key)


def key_of(state: State, instruction: Any, operand: Any) -> Key | None:
    """The place of a memory operand that others see."""
    address = address_of(state, instruction, operand)
    if address.kind is Kind.FRAME:
        return None
    if address.kind in (Kind.POINTER, Kind.SHARED):
        key = address.key if address.kind is Kind.POINTER else ("at", address.key)
        return ("place", key, address.offset or 0, operand.size)
    return text_key(instruction, operand)


def text_key(instruction: Any, operand: Any) -> Key:
    """The place, as the instruction addresses it: good until one of the registers changes."""
    memory = operand.mem
    names = [instruction.reg_name(number) if number else "" for number in (memory.base, memory.index)]
    return ("text", *names, memory.scale, memory.disp, operand.size)


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
            is_usable = state.is_usable(before) and state.is_usable(value)
            value = state.mixed(before, value) if is_usable else LOST
        state.set(name, value)
        return None
    address = checked_address(state, instruction, operand)
    if address.kind is Kind.FRAME:
        if address.offset is None and state.store_element(text_key(instruction, operand), value):
            return None
        return state.store(address.base, address.offset, operand.size, value)
    store_outside(state, value, key_of(state, instruction, operand))
    return None


def store_outside(state: State, value: Value, key: Key | None = None) -> None:
    """Memory that others may see is written: at this place."""
    if value.kind is Kind.FRAME:
        raise Refused("the address of one of its variables leaves it")
    state.use(value, "memory")
    if state.combining:
        if value.kind is Kind.COMBINED and value.key == key:
            return
        raise Refused("it stores in a critical section what is no reduction that is understood")
    if not state.is_nonempty:
        raise Refused("it stores what a thread without iterations would store, too")
