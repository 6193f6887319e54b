"""The C functions of OTF2, called directly: the Python layer of the package otf2 takes 6 us for each event.

The package has the whole library in the extension that its Python layer loads. It is loaded once for a process; the functions
here are objects of their own, so that declarations of arguments do not meet those of the package.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from typing import Any

U8, U32, U64, I64 = ctypes.c_uint8, ctypes.c_uint32, ctypes.c_uint64, ctypes.c_int64
POINTER, TEXT = ctypes.c_void_p, ctypes.c_char_p
_HANDLE_ERROR = ctypes.CFUNCTYPE(ctypes.c_int, POINTER, POINTER, U64, POINTER, ctypes.c_int, POINTER, POINTER)


class MissingPackage(Exception):
    """The package otf2 is not installed, or is not what it is expected to be; says what to install."""


class Failure(Exception):
    """A function of OTF2 did not succeed; says which one, and what it answered."""


# Arguments of the functions that answer with an error code; the first is always a pointer.
_FUNCTIONS: dict[str, tuple[Any, ...]] = {
    "Archive_SetFlushCallbacks": (POINTER, POINTER, POINTER),
    "Archive_SetSerialCollectiveCallbacks": (POINTER,),
    "Archive_SetCreator": (POINTER, TEXT),
    "Archive_SetDescription": (POINTER, TEXT),
    "Archive_SetMachineName": (POINTER, TEXT),
    "Archive_OpenDefFiles": (POINTER,),
    "Archive_OpenEvtFiles": (POINTER,),
    "Archive_CloseDefFiles": (POINTER,),
    "Archive_CloseEvtFiles": (POINTER,),
    "Archive_CloseDefWriter": (POINTER, POINTER),
    "Archive_CloseEvtWriter": (POINTER, POINTER),
    "Archive_CloseGlobalDefWriter": (POINTER, POINTER),
    "Archive_Close": (POINTER,),
    "EvtWriter_GetNumberOfEvents": (POINTER, POINTER),
    "EvtWriter_Enter": (POINTER, POINTER, U64, U32),
    "EvtWriter_Leave": (POINTER, POINTER, U64, U32),
    "EvtWriter_MpiSend": (POINTER, POINTER, U64, U32, U32, U32, U64),
    "EvtWriter_MpiRecv": (POINTER, POINTER, U64, U32, U32, U32, U64),
    "EvtWriter_ThreadFork": (POINTER, POINTER, U64, U8, U32),
    "EvtWriter_ThreadJoin": (POINTER, POINTER, U64, U8),
    "EvtWriter_ThreadTeamBegin": (POINTER, POINTER, U64, U32),
    "EvtWriter_ThreadTeamEnd": (POINTER, POINTER, U64, U32),
    "EvtWriter_ThreadAcquireLock": (POINTER, POINTER, U64, U8, U32, U32),
    "EvtWriter_ThreadReleaseLock": (POINTER, POINTER, U64, U8, U32, U32),
    "EvtWriter_ParameterUnsignedInt": (POINTER, POINTER, U64, U32, U64),
    "EvtWriter_Metric": (POINTER, POINTER, U64, U32, U8, POINTER, POINTER),
    "AttributeList_AddUint64": (POINTER, U32, U64),
    "AttributeList_AddInt64": (POINTER, U32, I64),
    "GlobalDefWriter_WriteClockProperties": (POINTER, U64, U64, U64, U64),
    "GlobalDefWriter_WriteParadigm": (POINTER, U8, U32, U8),
    "GlobalDefWriter_WriteString": (POINTER, U32, TEXT),
    "GlobalDefWriter_WriteAttribute": (POINTER, U32, U32, U32, U8),
    "GlobalDefWriter_WriteSystemTreeNode": (POINTER, U32, U32, U32, U32),
    "GlobalDefWriter_WriteSystemTreeNodeDomain": (POINTER, U32, U8),
    "GlobalDefWriter_WriteLocationGroup": (POINTER, U32, U32, U8, U32, U32),
    "GlobalDefWriter_WriteLocation": (POINTER, U64, U32, U8, U64, U32),
    "GlobalDefWriter_WriteRegion": (POINTER, U32, U32, U32, U32, U8, U8, U32, U32, U32, U32),
    "GlobalDefWriter_WriteGroup": (POINTER, U32, U32, U8, U8, U32, U32, POINTER),
    "GlobalDefWriter_WriteComm": (POINTER, U32, U32, U32, U32, U32),
    "GlobalDefWriter_WriteMetricMember": (POINTER, U32, U32, U32, U8, U8, U8, U8, I64, U32),
    "GlobalDefWriter_WriteMetricClass": (POINTER, U32, U8, POINTER, U8, U8),
    "GlobalDefWriter_WriteMetricInstance": (POINTER, U32, U32, U64, U8, U64),
    "GlobalDefWriter_WriteParameter": (POINTER, U32, U32, U8),
    "Reader_SetSerialCollectiveCallbacks": (POINTER,),
    "Reader_Close": (POINTER,),
    "Reader_RegisterGlobalDefCallbacks": (POINTER, POINTER, POINTER, POINTER),
    "Reader_ReadAllGlobalDefinitions": (POINTER, POINTER, POINTER),
    "Reader_CloseGlobalDefReader": (POINTER, POINTER),
    "Reader_SelectLocation": (POINTER, U64),
    "Reader_OpenDefFiles": (POINTER,),
    "Reader_OpenEvtFiles": (POINTER,),
    "Reader_CloseDefFiles": (POINTER,),
    "Reader_CloseEvtFiles": (POINTER,),
    "Reader_ReadAllLocalDefinitions": (POINTER, POINTER, POINTER),
    "Reader_CloseDefReader": (POINTER, POINTER),
    "Reader_RegisterEvtCallbacks": (POINTER, POINTER, POINTER, POINTER),
    "Reader_ReadAllLocalEvents": (POINTER, POINTER, POINTER),
    "Reader_CloseEvtReader": (POINTER, POINTER),
    "EvtReader_ApplyMappingTables": (POINTER, ctypes.c_int),
    "EvtReader_ApplyClockOffsets": (POINTER, ctypes.c_int),
}
# Arguments of the functions that answer with a pointer: null is a failure.
_MAKERS: dict[str, tuple[Any, ...]] = {
    "Archive_Open": (TEXT, TEXT, U8, U64, U64, U8, U8),
    "Archive_GetEvtWriter": (POINTER, U64),
    "Archive_GetDefWriter": (POINTER, U64),
    "Archive_GetGlobalDefWriter": (POINTER,),
    "AttributeList_New": (),
    "Reader_Open": (TEXT,),
    "Reader_GetGlobalDefReader": (POINTER,),
    "Reader_GetDefReader": (POINTER, U64),
    "Reader_GetEvtReader": (POINTER, U64),
    "GlobalDefReaderCallbacks_New": (),
    "EvtReaderCallbacks_New": (),
}
_DELETERS = ("GlobalDefReaderCallbacks_Delete", "EvtReaderCallbacks_Delete")


class Library:
    """OTF2's functions by their names without the prefix.

    `call` and `make` check what they answer; `raw` gives a function that answers with its error code, `address` its place, for
    calls by the million.
    """

    def __init__(self, library: Any) -> None:
        self._library = library
        for names, result in ((_FUNCTIONS, ctypes.c_int), (_MAKERS, POINTER)):
            for name, arguments in names.items():
                function = getattr(library, f"OTF2_{name}")
                function.argtypes, function.restype = arguments, result
        for name in _DELETERS:
            function = getattr(library, f"OTF2_{name}")
            function.argtypes, function.restype = (POINTER,), None
        library.OTF2_Error_GetDescription.argtypes = (ctypes.c_int,)
        library.OTF2_Error_GetDescription.restype = TEXT
        library.OTF2_Error_RegisterCallback.argtypes = (_HANDLE_ERROR, POINTER)
        library.OTF2_Error_RegisterCallback.restype = POINTER
        self._quiet = _HANDLE_ERROR(lambda *arguments: int(arguments[4]))

    def silence(self) -> None:
        """Errors are only answered: otherwise the library also writes each to standard error by itself."""
        self._library.OTF2_Error_RegisterCallback(self._quiet, None)

    def raw(self, name: str) -> Callable[..., int]:
        """The function itself."""
        function: Callable[..., int] = getattr(self._library, f"OTF2_{name}")
        return function

    def argument_types(self, name: str) -> tuple[Any, ...]:
        """The types of a function's arguments, as ctypes has them."""
        return _FUNCTIONS[name]

    def address(self, name: str) -> int:
        """Where the function is in memory."""
        return ctypes.cast(self.raw(name), POINTER).value or 0  # type: ignore[arg-type]

    def call(self, name: str, *arguments: Any) -> None:
        """Call it.

        Raises:
            Failure: it answered with an error.
        """
        code = self.raw(name)(*arguments)
        if code:
            raise self.failure(name, code)

    def make(self, name: str, *arguments: Any) -> int:
        """What it makes.

        Raises:
            Failure: it made nothing.
        """
        made_pointer: int | None = self.raw(name)(*arguments)
        if not made_pointer:
            raise Failure(f"OTF2_{name} failed")
        return made_pointer

    def failure(self, name: str, code: int) -> Failure:
        """What a function's error code means."""
        text = self._library.OTF2_Error_GetDescription(code) or b"unknown error"
        return Failure(f"OTF2_{name}: {text.decode('utf-8', 'replace')}")

    def set_callback(self, table: str, event: str, callbacks: int, function: Any) -> None:
        """Have `function`, which the caller keeps alive, called for each record of this kind."""
        setter = getattr(self._library, f"OTF2_{table}_Set{event}Callback")
        setter.argtypes, setter.restype = (POINTER, POINTER), ctypes.c_int
        if code := setter(callbacks, ctypes.cast(function, POINTER)):
            raise self.failure(f"{table}_Set{event}Callback", code)


@functools.cache
def load() -> Library:
    """The library of the installed package.

    Raises:
        MissingPackage: there is none, or it lacks functions.
    """
    try:
        from _otf2.Config import lib_path

        return Library(ctypes.CDLL(lib_path()))
    except (ImportError, OSError, AttributeError) as error:
        raise MissingPackage(f"OTF2 needs the package otf2 ({error}): pip install trimtab[otf2]") from error
