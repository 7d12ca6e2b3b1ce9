# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Each harness with its seeds and inputs that libFuzzer makes from them, and for a time with inputs that are new.

    make fuzz-build && python3 -m pytest tests/fuzz -k credits
    python3 -m pytest tests/fuzz -m '' -k test_new --seconds 3600

Contract: what is new and reaches new code is kept in build/tests/fuzz/corpus/, what breaks a claim in .../found/.
"""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
BUILT = TOP / "build/tests/fuzz"
MADE = 50_000  # the same inputs each time
SEED = 1
LIMIT_S = 300
HARNESSES = sorted(path.stem for path in Path(__file__).parent.glob("*.c") if path.stem != "fuzz")
each_harness = pytest.mark.parametrize("harness", HARNESSES)


@pytest.fixture(autouse=True)
def built(harness: str) -> None:
    """Without libFuzzer make builds none."""
    if not (BUILT / harness).exists():
        pytest.skip("not built: see make fuzz-build")


def made(kind: str, harness: str) -> Path:
    """A folder for inputs that libFuzzer has made."""
    folder = BUILT / kind / harness
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The inputs of seeds.txt as files, which is what libFuzzer reads: a folder for each harness."""
    directory: Path = tmp_path_factory.mktemp("seeds")
    for line in Path(__file__).with_name("seeds.txt").read_text(encoding="ascii").splitlines():
        if line.startswith("#"):
            continue
        name, rest = line.split(" ", 1)
        literal, _, size = rest.rpartition("'")
        data = ast.literal_eval(literal + "'").encode("latin-1")
        file = directory / name
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(data.ljust(int(size or 0), b"\0"))
    return directory


@pytest.fixture
def seeds(harness: str, written: Path) -> Path:
    """The folder of a harness's inputs."""
    return written / harness


def run(harness: str, options: Iterable[object], limit_s: float = LIMIT_S) -> str:
    """What it says, which must claim nothing broken."""
    command = [str(BUILT / harness), "-timeout=10", *map(str, options)]
    done = subprocess.run(
        command, cwd=TOP, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", timeout=limit_s
    )
    end = "\n".join([line for line in done.stdout.splitlines() if not line.startswith(("#", "Executed "))][-40:])
    assert done.returncode == 0, f"{' '.join(command[:4])}: exit status {done.returncode}\n{end}"
    return done.stdout


@each_harness
def test_seeds(harness: str, seeds: Path, tmp_path: Path) -> None:
    """The seeds, and inputs that libFuzzer makes of them. One that breaks a claim is kept."""
    found, folders = made("found", harness), (tmp_path, seeds)
    said = run(harness, ["-max_len=512", f"-runs={MADE}", f"-seed={SEED}", f"-artifact_prefix={found}/", *folders])
    assert f"Done {MADE} runs" in said


@pytest.mark.long
@pytest.mark.timeout(0)
@each_harness
def test_new(harness: str, seeds: Path, request: pytest.FixtureRequest) -> None:
    """Other inputs each time, for --seconds."""
    seconds = request.config.option.seconds
    corpus, found = made("corpus", harness), made("found", harness)
    options = ["-max_len=512", f"-max_total_time={int(seconds)}", f"-artifact_prefix={found}/", corpus, seeds]
    said = run(harness, options, LIMIT_S + seconds)
    assert re.search(r"^Done [1-9]\d* runs", said, re.MULTILINE)
