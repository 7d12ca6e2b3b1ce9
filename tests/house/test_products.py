# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Each product of tools/ is whole: copied into an empty folder with what it takes, it builds, passes its tests and is installed."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tools.folders import TOP, files
from tools.stages import make, variable

INSTALLED = {  # a command for each installed product, and the text that it has to print
    "verbs-sim": (["bin/verbs-sim", "--", "true"], ""),
    "verbs-trace": (["bin/verbs-trace", "true"], ""),
    "devices": (["lib/devices/devices", "--explain", "ENODEV"], "ENODEV (19)"),
}


def run(*words: object, cwd: Path) -> str:
    """A command that has to succeed, not as a part of the make that runs the tests; what it prints."""
    env = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "PYTEST_XDIST_WORKER")}
    done = subprocess.run([*map(str, words)], cwd=cwd, env=env, capture_output=True, text=True, timeout=800, check=False)
    assert done.returncode == 0, f"{words}: {done.stdout[-5000:]}{done.stderr[-5000:]}"
    return done.stdout


@pytest.mark.parametrize("product", variable("PRODUCTS"))
def test_alone(product: str, tmp_path: Path) -> None:
    takes = make("-C", f"tools/{product}", "print-TAKES").split()
    kept = (f"tools/{product}/", *(one if (TOP / one).is_file() else f"{one}/" for one in takes))
    for name in files():
        if name.startswith(kept) or (name.startswith("tools/") and name.endswith((".mk", "tools/pytest.ini")) and name.count("/") == 1):
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(TOP / name, tmp_path / name)
    room = tmp_path / "tools" / product
    run("make", "-s", f"-j{os.cpu_count()}", cwd=room)
    assert " passed" in run("make", "-s", "check", "PYTEST=-n 2", cwd=room)
    if product in INSTALLED:
        words, said = INSTALLED[product]
        run("make", "-s", "install", f"PREFIX={tmp_path}/installed", cwd=room)
        assert said in run(tmp_path / "installed" / words[0], *words[1:], cwd=tmp_path)
