# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""What a compiler makes of the loops of talk-rdma-0 that wait for a change of memory, with -O2: in machine code.

The broken loop never looks at memory again, as the README says; the right one looks each time around, as does the one that
sleeps.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
LIMIT_S = 60
INSTRUCTION = re.compile(r"^ *([0-9a-f]+):\t(.*)$")
JUMP = re.compile(r"^j\w+ +([0-9a-f]+) ")
MEMORY = re.compile(r"\(%r[a-z0-9]+\)")


def run(*command: object) -> str:
    """What the command says. Fails if it does."""
    words = [str(word) for word in command]
    return subprocess.run(words, cwd=TOP, check=True, capture_output=True, text=True, timeout=LIMIT_S).stdout


def loops_of(code: list[tuple[int, str]]) -> list[list[str]]:
    """The instructions of each loop: from where a jump leads back to, to the jump."""
    loops = []
    for address, instruction in code:
        jump = JUMP.match(instruction)
        if jump and int(jump[1], 16) <= address:
            loops.append([text for at, text in code if int(jump[1], 16) <= at <= address])
    return loops


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize(
    "function, source, looks",
    [("wait_right", "wait_right.c", True), ("wait_broken", "wait_broken.c", False), ("wait_asleep", "wait_broken.c", True)],
)
def test_a_loop_looks_at_memory(compiler: str, function: str, source: str, looks: bool, tmp_path: Path) -> None:
    """In one loop, or in none."""
    if not shutil.which(compiler):
        pytest.skip(f"{compiler} is not installed")
    built = tmp_path / "loops.o"
    run(compiler, "-std=c11", "-O2", "-I.", "-c", f"beyond/talk-rdma-0/{source}", "-o", built)
    text = run("objdump", "-d", "--no-show-raw-insn", f"--disassemble={function}", built)
    code = [(int(match[1], 16), match[2]) for match in map(INSTRUCTION.match, text.splitlines()) if match]
    assert code, text
    looking = [loop for loop in loops_of(code) if any(MEMORY.search(instruction) for instruction in loop)]
    assert len(looking) == looks, text
