# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The tests of a student's own library, course/mine/check.c: they pass with solution.c, and fail with each of these faults.

Contract: builds in build/tests/mine, and runs each in a machine of the lab.
"""

import os
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.long
TOP = Path(__file__).resolve().parents[3]
BUILT = TOP / "build/tests/mine"
SOLUTION = TOP / "course/tests/mine/solution.c"
COMPILE = "-std=c11 -D_GNU_SOURCE -I. -O2 -Wl,--wrap=ibv_get_cq_event".split()
LIMIT_S = 600
# A part of check.c, or 0 for all, and a VARIANT; and an edit of the solution, for sed(1).
RIGHT = {
    "right": ("0", r""),
    "speaks": ("0 4d494e47", r"s/0x4d494e45/0x4d494e47/"),  # a number with the order of struct hello
}
WRONG = {
    "other-number": ("2 4d494e5f", r""),
    "other-order": ("2 4d494e46", r"s/0x4d494e45/0x4d494e46/"),
    "not-posted-again": ("1", r"s/mine->error = post_recv(mine, index);/;/"),
    "cut-short": ("1", r"s/mine->lengths\[last\] = length - .*/mine->lengths[last] = 1;/"),
    "says-too-few": ("2", r"s/hello->buffers = htobe32(mine->options.buffers)/hello->buffers = htobe32(1)/"),
    "believes-all": ("2", r"s/? 0 : EPROTO;/? 0 : 0;/; s/return EPROTO;$/return 0;/"),
    "does-not-look": ("3", r"s/polls % POLLS_A_LOOK ? 0 : look(mine, false)/0/"),
    "looks-first": ("3", r"s/ret = take_completion(mine);/ret = look(mine, false); ret = ret ? ret : take_completion(mine);/"),
    "polls": ("4", r"s/!mine->options.sleep/true/"),
    "arms-once": ("4", r"s/mine->armed = false;//"),
    "no-credits": ("5", r"s/while (!ret \&\& !mine->credits)/while (0)/; s/mine->credits--/(void)0/; s/mine->credits > /0 > /"),
    "keeps-credits": ("5", r"s/++mine->owed \* 2 >= /++mine->owed >= 5000 + /"),
    "no-bounds": ("6", r"s/if (!is_inside(mine, offset, length))/if (0)/"),
    "puts-nothing": ("6", r"s/ret = one_sided(mine, offset, part, true);/ret = 0;/"),
}


@pytest.mark.parametrize("name", [*RIGHT, *WRONG])
def test_a_library(name: str) -> None:
    """A library passes, or fails the part that is about its fault."""
    part, edit = (RIGHT | WRONG)[name]
    changed = subprocess.run(["sed", edit, str(SOLUTION)], check=True, capture_output=True, text=True).stdout
    assert not edit or changed != SOLUTION.read_text(), "the edit changes nothing"
    BUILT.mkdir(parents=True, exist_ok=True)
    (BUILT / f"{name}.c").write_text(changed)
    command = [os.environ.get("CC", "cc"), *COMPILE, "course/mine/check.c", f"build/tests/mine/{name}.c"]
    subprocess.run([*command, "-lrdmacm", "-libverbs", "-o", f"build/tests/mine/{name}"], cwd=TOP, check=True)
    addresses = "$LAB_ROCE_ADDR $LAB_IWARP_ADDR" if part.startswith("0") else "$LAB_ROCE_ADDR"
    script = f"for a in {addresses}; do build/tests/mine/{name} $a 1 {part} || exit 99; done"
    lab = ["lab/run", "-q", "--timeout", str(LIMIT_S), "--", "sh", "-c", script]
    done = subprocess.run(lab, cwd=TOP, capture_output=True, text=True, timeout=LIMIT_S + 60)
    assert done.returncode == (0 if name in RIGHT else 99), done.stdout + done.stderr
