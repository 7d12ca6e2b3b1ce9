# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The machine code of what shares memory with a device or another host: barriers and ordered accesses, and the loops of
talk-rdma-0 that wait for a change of memory.

x86 keeps most orders by itself: one that is missing there changes nothing that a run could show. So the files with orders
are compiled for arm64, which needs an instruction for each; make check-long does so, and needs gcc-aarch64-linux-gnu. The
broken loop of talk-rdma-0 never looks at memory again with -O2, as its README says; the others look each time around.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
LIMIT_S = 60
INSTRUCTION = re.compile(r"^ *([0-9a-f]+):\t(.*)$")
JUMP = re.compile(r"^j\w+ +([0-9a-f]+) ")
MEMORY = re.compile(r"\(%r[a-z0-9]+\)")


def run(*command: object) -> str:
    """Returns the output of the command, which must not fail."""
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
    """The function looks at memory in one loop, or in none."""
    if not shutil.which(compiler):
        pytest.skip(f"{compiler} is not installed")
    built = tmp_path / "loops.o"
    run(compiler, "-std=c11", "-O2", "-I.", "-c", f"beyond/talk-rdma-0/{source}", "-o", built)
    text = run("objdump", "-d", "--no-show-raw-insn", f"--disassemble={function}", built)
    code = [(int(match[1], 16), match[2]) for match in map(INSTRUCTION.match, text.splitlines()) if match]
    assert code, text
    looking = [loop for loop in loops_of(code) if any(MEMORY.search(instruction) for instruction in loop)]
    assert len(looking) == looks, text


# ---- Orders -----------------------------------------------------------------------------------------------

# The functions are not inlined, so that each function has its instructions to itself.
COMPILE = "aarch64-linux-gnu-gcc -std=c11 -D_GNU_SOURCE -O1 -fno-inline -idirafter /usr/include -S -o -".split()

# The barriers that each function needs, by the Arm manual (ARM DDI 0487, "Memory ordering"): dmb, for loads (ld) or stores (st), and in the
# outer shareable domain (osh), to which devices belong. Another dmb, ldar and stlr order accesses for other CPUs only.
NEEDED = {
    "beyond/pubsub-rdma-1/record.c": {
        ("our_change_record", "dmb oshst"): 2,
        ("our_copy_record", "dmb oshld"): 2,
    },
    "beyond/ping-rdma-3/watch.c": {
        ("await_memory", "dmb oshld"): 1,
        ("find_zero", "ldar"): 2,  # loops over words, and over the remaining bytes
        ("look", "ldar"): 1,
    },
    "beyond/talk-rdma-0/slot.c": {
        ("our_look", "dmb oshld"): 1,  # these are functions of slot.h
        ("our_note_seen", "dmb oshld"): 1,
    },
}
# The files with the barriers of a file, besides the file itself.
HEADERS = {"beyond/talk-rdma-0/slot.c": ["beyond/talk-rdma-0/slot.h"]}
# These barriers are left out, or relaxed.
ORDERS = {r"our_(from|to)_device_barrier\(\)": "(void)0", "__ATOMIC_(ACQUIRE|RELEASE)": "__ATOMIC_RELAXED"}


def instructions(source: str, before: Path | None = None) -> Counter[tuple[str, str]]:
    """Compiles a file, with those of the folder `before` in place of the tree's; counts ordering instructions."""
    folders = [folder for folder in (before, TOP) if folder]
    path = next(folder / source for folder in folders if (folder / source).exists())
    command = [*COMPILE, *(f"-I{folder}" for folder in folders), str(path)]
    found: Counter[tuple[str, str]] = Counter()
    function = ""
    for line in run(*command).splitlines():
        label = re.match(r"(\w+)(\.\w+)*:$", line)
        function = label[1] if label else function
        instruction = re.match(r"\s+(dmb\s+\w+|ldar|stlr)[bh]?\s", f"{line} ")
        if instruction:
            found[function, instruction[1].replace("\t", " ")] += 1
    return found


@pytest.mark.long
@pytest.mark.parametrize("source", NEEDED)
def test_each_order_has_its_instruction(source: str) -> None:
    assert dict(instructions(source)) == NEEDED[source]


@pytest.mark.long
@pytest.mark.parametrize("source", NEEDED)
def test_an_order_that_is_left_out_is_missed(source: str, tmp_path: Path) -> None:
    """Each order is left out in turn."""
    places = [
        (path, order, match)
        for path in (source, *HEADERS.get(source, []))
        for order in ORDERS
        for match in re.finditer(order, (TOP / path).read_text())
    ]
    assert len(places) == sum(NEEDED[source].values())
    for path, order, match in places:
        variant = tmp_path / path
        variant.parent.mkdir(parents=True, exist_ok=True)
        variant.write_text(match.string[: match.start()] + ORDERS[order] + match.string[match.end() :])
        assert dict(instructions(source, tmp_path)) != NEEDED[source], f"{path} at {match.start()}"
        variant.unlink()
