# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""course/call.py: a function of a program is called from outside, and what it returns is what the program returned."""

import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from course import call
from exercises.solutions import TOP

PROGRAM = r"""
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static uint64_t sum;

static uint64_t ask(uint64_t what, uint64_t value)
{
	if (what == 1)
		*(volatile int *)16 = 1;
	if (what == 2)
		_exit(3);
	if (what == 3)
		abort();
	return sum += value;
}

int main(void)
{
	printf("%p\n", (void *)ask);
	fflush(stdout);
	for (;;)
		pause();
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program, compiled once."""
    out = tmp_path_factory.mktemp("call") / "program"
    subprocess.run(["cc", "-x", "c", "-", "-o", str(out)], input=PROGRAM, text=True, check=True)
    return out


@pytest.fixture
def started(program: Path) -> Iterator[tuple[int, int]]:
    """The pid of the started program, and the address of its function."""
    with subprocess.Popen([str(program)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        yield process.pid, int(process.stdout.readline(), 16)
        process.kill()


def test_what_it_returns(started: tuple[int, int]) -> None:
    """All results are right, also numbers of 64 bits, and many of them."""
    values = [7, 2**63, 1, *range(1000)]
    assert list(call.results(*started, [(0, value) for value in values])) == [sum(values[: n + 1]) for n in range(len(values))]


@pytest.mark.parametrize("what, number", [(1, signal.SIGSEGV), (3, signal.SIGABRT)])
def test_a_crash(started: tuple[int, int], what: int, number: int) -> None:
    calls = call.results(*started, [(0, 5), (what, 0)])
    assert next(calls) == 5
    with pytest.raises(call.Crashed) as crash:
        next(calls)
    assert crash.value.args[0] == number


def test_an_end(started: tuple[int, int]) -> None:
    with pytest.raises(call.Ended):
        list(call.results(*started, [(2, 0)]))


def test_the_histogram(tmp_path: Path) -> None:
    """The project's own histogram, as the grader calls it: no number is on its command line."""
    out = tmp_path / "probe"
    sources = [TOP / "course/partners/histogram.c", TOP / "program/measure/histogram.c"]
    subprocess.run(["cc", "-std=c11", "-I", str(TOP), *map(str, sources), "-o", str(out)], check=True)
    with subprocess.Popen([str(out), "-"], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        address = int(process.stdout.readline(), 16)
        found = list(call.results(process.pid, address, [(0, 10), (0, 30), (0, 1000), (1, 0), (2, 0), (3, 0), (5, 500), (5, 1000)]))
        process.kill()
    assert found == [1, 2, 3, 3, 10, 1000, 30, 1000]
