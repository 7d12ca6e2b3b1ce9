# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""make doctor on machines that lack something: made-up commands stand for them. None of these machines has the lab's kernel in its cache, as
the doctor would boot it; tests/lab has the row that does.
"""

import subprocess
from pathlib import Path

import pytest

from tools.folders import TOP

NO_LAB = "TO DO  lab         its kernel is not here (280 MB to download): lab/run --fetch"


def doctor(where: Path, without: dict[str, str], **variables: str) -> tuple[int, list[str]]:
    """The doctor's exit status and lines, if the commands of `without` do what is said there."""
    for name, script in without.items():
        (where / name).write_text(f"#!/bin/bash\n{script}\n")
        (where / name).chmod(0o755)
    environment = {"PATH": f"{where}:/usr/bin:/bin", "XDG_CACHE_HOME": str(where), **variables}
    done = subprocess.run(["tools/doctor"], cwd=TOP, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert not done.stderr
    return done.returncode, done.stdout.splitlines()


def test_nothing_is_missing(tmp_path: Path) -> None:
    status, lines = doctor(tmp_path, {})
    assert status == 0
    assert [line for line in lines if not line.startswith("ok ")] == [NO_LAB]
    assert len(lines) == 10


def test_a_missing_package_is_named_with_its_command(tmp_path: Path) -> None:
    """The programs can be built all the same: jq is for the demo."""
    status, lines = doctor(tmp_path, {"dpkg-query": '/usr/bin/dpkg-query "$@" | grep -v " jq,"'})
    assert status == 0
    wrong = [line for line in lines if not line.startswith("ok ")]
    command = "apt-get update && apt-get install --no-install-recommends jq"
    assert wrong == [f"TO DO  packages    for the programs: run as root: {command}", NO_LAB]


@pytest.mark.parametrize(
    "name, script, remedy",
    [
        ("cc", "echo no compiler >&2; exit 1", "(no compiler): tools/packages --install build"),
        ("python3", "echo SyntaxError >&2; exit 1", "at least 3.11 is needed (SyntaxError): tools/packages --install build"),
    ],
)
def test_what_no_build_can_do_without(tmp_path: Path, name: str, script: str, remedy: str) -> None:
    status, lines = doctor(tmp_path, {name: script})
    assert status == 1
    assert [line for line in lines if line.startswith("TO DO") and remedy in line]


def test_a_machine_with_nothing(tmp_path: Path) -> None:
    """The doctor says all at once, also what root has to run for each part."""
    status, lines = doctor(tmp_path, {"dpkg-query": "exit 0", "cc": "exit 1"})
    assert status == 1
    assert len([line for line in lines if "run as root: apt-get" in line]) == 4


def test_an_address_that_no_device_serves(tmp_path: Path) -> None:
    status, lines = doctor(tmp_path, {}, RDMA_ADDR="127.0.0.1")
    assert status == 0
    assert "TO DO  devices     RDMA with RDMA_ADDR=127.0.0.1 does not work; to see why: bin/devices --check 127.0.0.1" in lines
