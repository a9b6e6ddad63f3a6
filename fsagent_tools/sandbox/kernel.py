"""System calls through ctypes; they change the calling thread and what it starts."""

import ctypes
import os
from functools import cache
from typing import Any


@cache
def libc() -> Any:
    return ctypes.CDLL(None, use_errno=True)


def require_success(name: str, result: int) -> int:
    """`result`, or `OSError` with the call's name when it is negative."""
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
    return result


def syscall(name: str, number: int, *arguments: Any) -> int:
    return require_success(name, libc().syscall(ctypes.c_long(number), *arguments))


def prctl(name: str, *arguments: Any) -> int:
    return require_success(
        name, libc().prctl(*(ctypes.c_ulong(argument) for argument in arguments))
    )
