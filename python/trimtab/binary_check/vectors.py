"""Instructions on vectors, masks and the x87 stack.

Nothing is followed in their registers: only clean values may go into them, and so only such come out.
"""

from __future__ import annotations

from typing import Any

from capstone import x86_const as x86

from trimtab.binary_check import choices, vector_values
from trimtab.binary_check import operands as at
from trimtab.binary_check.state import State
from trimtab.binary_check.values import CLEAN, Kind, Value

# x87 without an operand that would tell.
_X87 = set(
    [
        "fld1",
        "fldz",
        "fldpi",
        "fldl2e",
        "fldl2t",
        "fldlg2",
        "fldln2",
        "fchs",
        "fabs",
        "fsqrt",
        "frndint",
        "fscale",
        "f2xm1",
        "fyl2x",
        "fyl2xp1",
        "fprem",
        "fprem1",
        "fpatan",
        "fptan",
        "fsin",
        "fcos",
        "fsincos",
        "fxch",
        "faddp",
        "fmulp",
        "fsubp",
        "fsubrp",
        "fdivp",
        "fdivrp",
        "fcompp",
        "fucompp",
        "ftst",
        "fxam",
        "fdecstp",
        "fincstp",
    ]
)
# Of vectors and x87, those whose memory operand comes first and is read only.
_READ_FIRST = (
    "fld",
    "fild",
    "fadd",
    "fsub",
    "fmul",
    "fdiv",
    "fiadd",
    "fisub",
    "fimul",
    "fidiv",
    "fcom",
    "fucom",
    "ficom",
)
# That set flags, those only.
_COMPARE_VECTORS = {
    *(v + name + kind for v in ("", "v") for name in ("comis", "ucomis") for kind in ("s", "d")),
    *(["ptest", "vptest", "vtestps", "vtestpd", "fcomi", "fcompi", "fcomip", "fucomi", "fucompi", "fucomip"]),
    *(name + size for name in ("kortest", "ktest") for size in "bwdq"),
}
# With effects that their operands do not tell, or that depend on flags.
_REFUSED = (
    "maskmov",
    "vmaskmovdqu",
    "fxsave",
    "fxrstor",
    "xsave",
    "xrstor",
    "ldmxcsr",
    "vldmxcsr",
    "pcmpestr",
    "pcmpistr",
    "vpcmpestr",
    "vpcmpistr",
    "fstenv",
    "fldenv",
    "fnstenv",
    "fsave",
    "fnsave",
    "frstor",
    "fldcw",
    "fcmov",
)
# Store to memory and have no operand in a register.
_STORE = ("fstp", "fst", "fistp", "fist", "fisttp", "fnstsw", "fnstcw", "fstcw")


def is_understood(instruction: Any) -> bool:
    """Whether it is one of these."""
    name = instruction.mnemonic
    if name.startswith(_REFUSED):
        return False
    return at.is_vector(instruction) or name in _X87 or name in _STORE or name.startswith(_READ_FIRST)


def apply(state: State, instruction: Any) -> None:
    """What it does to what is known."""
    name, parts = instruction.mnemonic, instruction.operands
    is_comparing = name in _COMPARE_VECTORS
    is_reading = is_comparing or name.startswith(_READ_FIRST)
    result = CLEAN if is_reading or not parts else choices.moved_vector(state, instruction)
    number = choices.number_of(state, instruction, parts[-1]) if len(parts) == 2 and not is_reading else 0
    for position, operand in enumerate(parts):
        if operand.type == x86.X86_OP_MEM:
            _memory(state, instruction, operand, position == 0 and not is_reading, result)
        elif (register := at.register_of(instruction, operand)) is not None:
            if position > 0 or is_reading:
                state.use(state.registers[register], f"a computation ({name} {instruction.op_str})")
            else:
                at.write(state, instruction, operand, result)
    if is_comparing:
        state.flags = True
        choices.compare(state, instruction)
    elif parts and (vector := vector_values.vector_of(instruction, parts[0])) is not None:
        state.set_vector(vector, result)
    if number:
        choices.copy_number(state, instruction, parts[0], number)
    for number in instruction.regs_write:
        register = at.whole_name(instruction.reg_name(number))
        if register is not None and not (parts and at.register_of(instruction, parts[0]) == register):
            state.set(register, CLEAN)


def _memory(state: State, instruction: Any, operand: Any, is_written: bool, value: Value) -> None:
    address = at.checked_address(state, instruction, operand)
    size = operand.size if operand.size > 0 else 64
    if address.kind is not Kind.FRAME:
        if is_written:
            at.store_outside(state, value, at.key_of(state, instruction, operand))
        return
    if (
        is_written
        and address.offset is None
        and state.store_element(at.text_key(instruction, operand), value)
    ):
        return
    if is_written and address.offset is not None and value.kind is not Kind.CLEAN:
        state.store(address.base, address.offset, size, value)
    elif is_written:
        state.blur(address.base, address.offset, size)
    else:
        value = state.load(address.base, address.offset, size)
        state.use(value, f"a computation ({instruction.mnemonic} {instruction.op_str})")
