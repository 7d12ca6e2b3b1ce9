# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Numbers of options: their defaults, and the largest. What users see of each is in transcripts/, and what is posted in posts.txt there."""

from __future__ import annotations

import re
import subprocess

import pytest
from sim.simulation import ADDRESS, OF_ITS_OWN, SIDES, TOP, simulate
from live.table import STAGES, Stage

COUNT = 20


def pair_of(stage: Stage, client: str = "", server: str = "", agreed: str = f"-c {COUNT}") -> list[list[str]]:
    """The later one of two options counts."""
    common = ["-q"] if stage.name != "ping-ep-0" else []
    talks = stage.name == "talk-rdma-0"
    of_server = "" if stage.negotiates else agreed
    return [
        [f"{stage.folder}/server", *common, "-a", ADDRESS, *of_server.split(), *server.split()],
        [f"{stage.folder}/client", *common, "-a", ADDRESS, *("" if talks else agreed).split(), *client.split()],
    ]


# ---- Numbers: those that --help and an error tell ----

SHORT = "ping-sr-2 ping-sr-5 blast-sr-2 ping-srq-4 pubsub-rdma-1".split()  # these stages in make check: the others take the same
NUMBERED = [
    pytest.param(stage, side, id=f"{stage}-{SIDES[side]}", marks=[] if stage.name in SHORT else [pytest.mark.long])
    for stage in STAGES
    if not stage.nine and stage.name != "ping-ep-0"
    for side in (0, 1)
]
OPTION = re.compile(r"^  (?:-\w, |    )(--[\w-]+) (?:N|BYTES|\w*SECONDS|PORT)\b.*?(?:\(default (\d[\w^]*)(?:;[^)]*)?\))?$", re.MULTILINE)


def numbers_of(stage: Stage, side: int) -> list[tuple[str, str]]:
    """The options of a side that take a number, and what --help says of their defaults."""
    argv = [f"{stage.folder}/{SIDES[side]}", "--help"]
    return OPTION.findall(subprocess.run(argv, cwd=TOP, capture_output=True, text=True, check=True).stdout)


def largest(stage: Stage, side: int, option: str) -> int:
    """Returns the largest number, which the program prints when it is given more."""
    argv = [f"{stage.folder}/{SIDES[side]}", "-a", ADDRESS, option, "9" * 25]
    said = subprocess.run(argv, cwd=TOP, capture_output=True, text=True, check=False).stderr
    (most,) = re.findall(r" from \d+ to (\d+)", said)
    return int(most)


@pytest.mark.parametrize("stage, side", NUMBERED)
def test_the_defaults_are_those_that_help_tells(stage: Stage, side: int) -> None:
    """With one of the defaults told, the run is the same, to the last call."""
    defaults = [(option, value) for option, value in numbers_of(stage, side) if value and option not in ("--port", "--count")]
    usual = simulate(pair_of(stage))
    assert not usual.exit and defaults, usual.why()
    for option, value in defaults:
        value = re.sub(r"(\d+)\^(\d+)", lambda found: str(int(found[1]) ** int(found[2])), value)
        words = f"{option} {value}"
        run = simulate(pair_of(stage, **{SIDES[side]: words}))
        assert run.hash == usual.hash, f"{words}\n{run.why()}"


@pytest.mark.parametrize("stage, side", NUMBERED)
def test_the_largest_numbers(stage: Stage, side: int) -> None:
    """A run ends as usual; or one line says that the device, or the memory, has less. One that would not end is told to."""
    for option, _ in numbers_of(stage, side):
        most = largest(stage, side, option)
        program = [] if option == "--port" else pair_of(stage, **{SIDES[side]: f"{option} {most}"})
        if option == "--port":
            program = pair_of(stage, f"-p {most}", f"-p {most}")
        endless = option == "--count"
        run = simulate(program, *(["--fail", "1:300:SIGINT"] if endless and side else []))
        assert run.exit not in OF_ITS_OWN and not run.left.replace("nothing", ""), run.why()
        less = re.search(rf"{option}|RDMA device|rxe0|memory", run.err)
        assert {*run.statuses} == {0} or less, f"{option} {most}\n{run.why()}"
