# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Promises of build/libour_control.a and its header to any program that uses them."""

import re
import subprocess
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
LIBRARY = "build/libour_control.a"
STATE = {"joined", "lock"}  # the list of controls on a device, whose events librdmacm has only once for the whole process
FORBIDDEN = re.compile(
    r"\b(main|v?f?printf|puts|putchar|fputs|fwrite|write|stdout|stderr|perror|_?exit|abort|signal|sigaction|alarm)\b"
)
STRICT = "-pedantic -Wall -Wextra -Werror -Icommon -fsyntax-only -".split()
HEADER = '#include "our_control.h"\n'


def said(*command: str, stdin: str = "") -> str:
    """Returns the output of a command, which must not fail."""
    done = subprocess.run(command, cwd=TOP, input=stdin, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_it_prints_nothing_and_ends_nothing() -> None:
    """The functions that the library calls show this."""
    names = said("nm", LIBRARY)
    assert " T our_client_connect\n" in names
    assert not [line for line in names.splitlines() if FORBIDDEN.search(line)]


def test_it_has_no_other_state() -> None:
    """The library has no symbol in a section that can be written to."""
    columns = [line.split() for line in said("objdump", "-t", LIBRARY).splitlines()]
    writable = {row[-1] for row in columns if len(row) > 3 and row[3] in (".data", ".bss", ".tdata", ".tbss")}
    assert {name for name in writable if not name.startswith(".")} == STATE


@pytest.mark.parametrize("language", ["c -std=c11", "c++ -std=c++17"])
def test_the_header_stands_by_itself(language: str) -> None:
    """The header compiles by itself in both languages."""
    said("clang", "-x", *language.split(), *STRICT, stdin=HEADER)


@pytest.mark.parametrize("example", sorted(path.name for path in (TOP / "examples").glob("*.c")))
def test_an_example_needs_nothing_else(example: str) -> None:
    """An example needs no other file of ours."""
    assert [line for line in (TOP / "examples" / example).read_text().splitlines(True) if line.startswith('#include "')] == [HEADER]
