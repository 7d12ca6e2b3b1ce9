# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The shared library keeps the functions and public structures that its VERSION has promised: abidiff compares it with that of the commit
PROMISED in tools/packaging/packaging.mk, and notices what would break a program that is not compiled again.

Contract: what may be added is a function or variable, and a member at the end of a structure that only the library allocates.
"""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from house.test_packed import run
from tools.stages import variable

TOP = Path(__file__).resolve().parents[2]
MAY_GROW = "".join(f"[suppress_type]\nname = {name}\nhas_data_member_inserted_at = end\n" for name in ("our_control", "our_device"))
(PROMISED,) = variable("PROMISED")
IS_THERE = subprocess.run(["git", "cat-file", "-e", f"{PROMISED}^{{commit}}"], cwd=TOP, stderr=subprocess.DEVNULL, check=False).returncode == 0
pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not IS_THERE, reason="the history does not have the commit PROMISED"),
    pytest.mark.skipif(not shutil.which("abidiff"), reason="abidiff is not there: tools/packages --install long"),
]


def compiled(folder: Path) -> Path:
    """Returns the folder with the library of its two files, which has debugging information."""
    run("gcc", "-std=c11", "-g", "-shared", "-fPIC", "our_control.c", "-o", "lib.so", cwd=folder)
    return folder


@pytest.fixture(scope="module")
def promised(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library of the commit."""
    tree = tmp_path_factory.mktemp("promised")
    subprocess.run(f"git archive {PROMISED} | tar -x -C {tree}", shell=True, cwd=TOP, check=True)
    run("make", "-s", "amalgamation", cwd=tree)
    return compiled(tree / "build/amalgamation")


def differences(old: Path, new: Path) -> str:
    """Returns what abidiff says of this library; nothing if it keeps the promise."""
    (new / "grows").write_text(MAY_GROW)
    words: list[str | Path] = ["abidiff", "--no-added-syms", "--drop-private-types", "--headers-dir1", old, "--headers-dir2", new, "--suppressions", new / "grows"]
    done = subprocess.run([*words, old / "lib.so", new / "lib.so"], capture_output=True, text=True, check=False)
    assert done.returncode in (0, 4, 8, 12), done.stdout + done.stderr
    return done.stdout if done.returncode else ""


def test_the_promise_is_kept(promised: Path, tmp_path: Path) -> None:
    run("make", "-s", "amalgamation")
    shutil.copytree(TOP / "build/amalgamation", tmp_path / "now")
    assert differences(promised, compiled(tmp_path / "now")) == ""


CHANGES = {  # by words of the header or the source: what they become, and what is said of it
    "a member moves": ("uint64_t wr_id;\n\tenum ibv_wc_opcode opcode;", "enum ibv_wc_opcode opcode;\n\tuint64_t wr_id;", "wr_id"),
    "a member of the program's": ("unsigned int timeout_s;", "unsigned int timeout_s, more_s;", "our_config"),
    "a number changes": ("OUR_LISTENER,", "OUR_NOBODY,\n\tOUR_LISTENER,", "OUR_LISTENER"),
    "a function goes": ("our_pause_ms", "our_pause_s", "our_pause_ms"),
    "a parameter more": ("our_report_end(struct our_control *control, int ret)", "our_report_end(struct our_control *control, long ret)", "our_report_end"),
    "one more comes": ("void our_close(struct our_control *control);", "void our_close(struct our_control *control);\nint our_more;", ""),
    "a member at the end": ("} counters;\n};", "} counters;\n\tint more;\n};", ""),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_breaks_a_program_is_noticed(promised: Path, tmp_path: Path, change: str) -> None:
    old, new, said = CHANGES[change]
    there = 0
    for name in ("our_control.h", "our_control.c"):
        text = (promised / name).read_text()
        there += text.count(old)
        (tmp_path / name).write_text(re.sub(re.escape(old) + r"(?!\w)", lambda _: new, text))
    assert there, "the words to change are not there"
    found = differences(promised, compiled(tmp_path))
    assert said in found and bool(found) == bool(said), found
