# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Calls a function of a program in the jail from outside, as a debugger does.

Place: used by run_cases.py, as root. Contract: arguments and results are in registers of the stopped program, so no code of
the program sees an argument before the function does, and only the function's return gives the result. It works on x86-64.
"""

import ctypes
import os
import signal
from collections.abc import Iterable, Iterator, Sequence

CONT, GETREGS, SETREGS, SEIZE, INTERRUPT = 7, 12, 13, 0x4206, 0x4207  # <sys/ptrace.h>
EXITKILL = 0x100000
WALL = 0x40000000  # waitpid(2) also waits for a process that is no child
POKE = 5
RED_ZONE = 128  # bytes below the stack pointer that are in use
FATAL = (signal.SIGSEGV, signal.SIGBUS, signal.SIGILL, signal.SIGFPE, signal.SIGABRT, signal.SIGTRAP)
LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.ptrace.restype, LIBC.ptrace.argtypes = ctypes.c_long, (ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p)


class Registers(ctypes.Structure):
    """The struct user_regs_struct of <sys/user.h>."""

    _fields_ = [(name, ctypes.c_uint64) for name in (
        "r15 r14 r13 r12 rbp rbx r11 r10 r9 r8 rax rcx rdx rsi rdi orig_rax rip cs eflags rsp ss fs_base gs_base ds es fs gs").split()]  # fmt: skip


class Ended(Exception):
    """The program has ended, or is not there."""


class Crashed(Exception):
    """The program got a fatal signal, which is the argument. The first process of a namespace does not die by it, and has to be killed."""


def _ptrace(request: int, pid: int, address: int = 0, data: int = 0) -> None:
    """Calls ptrace(2). Raises Ended if that fails."""
    if LIBC.ptrace(request, pid, address, data) < 0:
        raise Ended(f"ptrace: {os.strerror(ctypes.get_errno())}")


def _stopped(pid: int) -> int:
    """Waits until the program stops. Returns the signal."""
    try:
        status = os.waitpid(pid, WALL)[1]
    except ChildProcessError as gone:
        raise Ended("it is gone") from gone
    if not os.WIFSTOPPED(status):
        raise Ended("it has ended")
    return os.WSTOPSIG(status)


def _call(pid: int, base: Registers, function: int, arguments: Sequence[int]) -> int:
    """Calls the function, with at most two arguments; its return address is 0, where the program stops with SIGSEGV. Any
    other signal is the program's own."""
    registers = Registers.from_buffer_copy(base)
    registers.rdi, registers.rsi = arguments
    registers.rsp = (base.rsp - RED_ZONE) // 16 * 16 - 8
    registers.rip, registers.rax, registers.orig_rax = function, 0, 2**64 - 1  # the kernel must not repeat a system call
    _ptrace(POKE, pid, registers.rsp, 0)
    _ptrace(SETREGS, pid, 0, ctypes.addressof(registers))
    number = 0
    while True:
        _ptrace(CONT, pid, 0, number)
        number = _stopped(pid)
        _ptrace(GETREGS, pid, 0, ctypes.addressof(registers))
        if number == signal.SIGSEGV and not registers.rip:
            return registers.rax
        if number in FATAL:
            raise Crashed(number)


def results(pid: int, function: int, calls: Iterable[Sequence[int]]) -> Iterator[int]:
    """Yields the results of the function, one for each pair of arguments. Raises Ended, or Crashed. The caller limits the time by
    killing the program."""
    base = Registers()
    _ptrace(SEIZE, pid, 0, EXITKILL)
    _ptrace(INTERRUPT, pid)
    _stopped(pid)
    _ptrace(GETREGS, pid, 0, ctypes.addressof(base))
    for arguments in calls:
        yield _call(pid, base, function, arguments)
