# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The folder of a stage, for whatever runs or reads the stages.

Place: used by bench/, course/, tests/ and tools/. Contract: the stages of the ladder are at the top of the tree, the
others in beyond/, as the Makefile's folder has it.
"""

from pathlib import Path

TOP = Path(__file__).resolve().parents[1]


def folder(stage: str) -> str:
    """The path, relative to the top of the tree."""
    beyond = f"beyond/{stage}"
    return beyond if (TOP / beyond).is_dir() else stage
