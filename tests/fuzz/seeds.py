# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The inputs of seeds.txt as files, which is what libFuzzer reads.

    python3 tests/fuzz/seeds.py DIRECTORY    # DIRECTORY/HARNESS/NAME
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path

LIST = Path(__file__).with_suffix(".txt")


def write(directory: Path) -> None:
    """All of them, in a folder for each harness."""
    for line in LIST.read_text(encoding="ascii").splitlines():
        if line.startswith("#"):
            continue
        name, rest = line.split(" ", 1)
        literal, _, size = rest.rpartition("'")
        data = ast.literal_eval(literal + "'").encode("latin-1")
        file = directory / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data.ljust(int(size or 0), b"\0"))


if __name__ == "__main__":
    write(Path(sys.argv[1]))
