# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""tools/packages on machines that are not this one: made-up commands stand for another distribution, and another processor."""

import shutil
import subprocess
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
COMMANDS = "awk bash cat dirname env grep sed sort tr".split()


def say(where: Path, processor: str, has: str, *parts: str) -> str:
    """What it prints on a machine with this processor and this one command for packages."""
    for name in COMMANDS:
        (where / name).symlink_to(shutil.which(name) or "/")
    for name, text in {"uname": f"echo {processor}", has: "exit 1"}.items():
        (where / name).write_text(f"#!{shutil.which('bash')}\n{text}\n")
        (where / name).chmod(0o755)
    done = subprocess.run(["tools/packages", *parts], cwd=TOP, env={"PATH": str(where)}, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    return done.stderr


@pytest.mark.parametrize(
    "has, words",
    [
        ("dnf", "dnf install gcc glibc-devel jq libibverbs make python3 rdma-core-devel "),
        ("pacman", "pacman -S --needed gcc glibc jq make python rdma-core "),
        ("zypper", "zypper install gcc glibc-devel jq libibverbs make python3 rdma-core-devel "),
        ("none", "under the names they have here: gcc ibverbs-providers jq libc6-dev "),
    ],
)
def test_another_distribution(tmp_path: Path, has: str, words: str) -> None:
    said = say(tmp_path, "x86_64", has, "build")
    assert words in said and "OUR_PACKAGES=installed" in said


def test_what_needs_debian(tmp_path: Path) -> None:
    said = say(tmp_path, "x86_64", "dnf", "build", "lab")
    assert "use the container (docs/anywhere.md)" in said and " qemu-system-x86 " in said


@pytest.mark.parametrize("processor, qemu, other", [("x86_64", "qemu-system-x86", "qemu-system-arm"), ("aarch64", "qemu-system-arm", "qemu-system-x86")])
def test_another_processor(tmp_path: Path, processor: str, qemu: str, other: str) -> None:
    said = say(tmp_path, processor, "none", "lab")
    assert f" {qemu} " in said and other not in said and "[" not in said
