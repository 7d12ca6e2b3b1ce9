# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The project's files, and the folder of a stage, for whatever runs or reads them.

Place: used by bench/, course/, tests/ and tools/. Contract: the stages of the ladder are at the top of the tree, the
others in beyond/, as the Makefile's folder has it.
"""

import subprocess
from pathlib import Path

TOP = Path(__file__).resolve().parents[1]


def folder(stage: str) -> str:
    """The path, relative to the top of the tree."""
    beyond = f"beyond/{stage}"
    return beyond if (TOP / beyond).is_dir() else stage


def files(*endings: str, new: bool = False) -> list[str]:
    """The project's files that are there, relative to the top of the tree, with `new` also those that git does not track
    yet; with endings, only those that have one."""
    said = subprocess.run([str(TOP / "tools/files"), *["--new"] * new], capture_output=True, text=True, check=True).stdout
    return [name for name in said.splitlines() if name.endswith(endings or "") and (TOP / name).is_file()]
