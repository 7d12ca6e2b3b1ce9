# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Writes docs/figures/*.svg, or says with --check which of them are not as they would be written."""

import argparse
import sys
from pathlib import Path

from .drawings import FIGURES
from .lessons import LESSONS

FOLDER = Path(__file__).resolve().parents[2] / "docs/figures"

if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python3 -B -m tools.figures", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit status 1 if a file is not current")
    only_check = parser.parse_args().check
    old = []
    for name, figure in {**FIGURES, **LESSONS}.items():
        path, svg = FOLDER / f"{name}.svg", figure().svg()
        if not path.exists() or path.read_text() != svg:
            old.append(path)
            if not only_check:
                path.write_text(svg)
    if only_check:
        for path in old:
            print(f"{path} is not what tools/figures draws: run `make fill`", file=sys.stderr)
        sys.exit(1 if old else 0)
