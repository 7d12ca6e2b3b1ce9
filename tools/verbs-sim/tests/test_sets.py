# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Many runs of the same programs: --shrink makes one that fails small, and --coverage reports what none has reached."""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from verbs_sim import TOP, Run, read

LOST, PROGRAMS, CLAIMS = (str(TOP / "build/tests/sim" / name) for name in ("lost", "programs", "claims"))
LEFT = re.compile(r"shrunk by \d+ runs: (\d+) of (\d+) programs, (\d+) of (\d+) faults, (\d+) of \d+ delays and the like, (\d+) of \d+ orders of devices, (\d+) of \d+ switches")
# Two servers and their clients, the last of which is careless if it gets no memory, and a program that waits for a timer.
FIVE = [[LOST, "server", "1"], [LOST, "server", "2"], [LOST, "client", "1"], [LOST, "client", "2"], [PROGRAMS, "tick"]]
# Thirty-nine signals without an effect; some name no call that is made.
DEAF = [word for i in range(39) for word in ("--fail", f"{i % 5 if i % 5 != 3 else 0}:{3 + 2 * i}:SIGWINCH")]


def run(folder: Path, options: list[str], programs: list[list[str]]) -> subprocess.CompletedProcess[str]:
    words = [word for program in programs for word in [":::", *program]][1:]
    argv = [str(TOP / "tools/verbs-sim/verbs-sim"), *options, "--", *words]
    return subprocess.run(argv, cwd=folder, capture_output=True, text=True, timeout=120, check=False)


def shrink(folder: Path, options: list[str], programs: list[list[str]]) -> tuple[list[int], Run]:
    """Returns how many programs and faults are left, and were there; then how many choices are left; and the small run."""
    done = run(folder, ["--shrink", *options], programs)
    first, _, rest = done.stderr.partition("verbs-sim: shrunk by ")
    found = LEFT.match(f"shrunk by {rest}")
    assert found, done.stderr
    *lines, drawn = rest.splitlines()
    assert drawn == "verbs-sim: its calls are drawn in shrunk.txt"
    small = read([], done.returncode, "", "\n".join(lines))
    assert read([], done.returncode, "", first).exit == small.exit
    return [int(number) for number in found.groups()], small


def again(folder: Path, small: Run) -> Run:
    """Repeats the run by the command in its last line."""
    words = small.command.split()
    done = subprocess.run([str(TOP / "tools/verbs-sim/verbs-sim"), *words[1:]], cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    return read(words, done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize("transport", [[], ["--iwarp"]], ids=["RoCE", "iWARP"])
def test_a_hang_of_five_programs_and_forty_faults(transport: list[str], tmp_path: Path) -> None:
    options = [*transport, "--seeds", "400", "--servers", "2", "--expect", "2:0", "--expect", "3:0", *DEAF, "--fail", "3:malloc:1"]
    left, small = shrink(tmp_path, options, FIVE)
    assert left[:4] == [2, 5, 1, 40] and sum(left[4:]) <= 10, left
    assert small.exit == 120 and small.command.endswith(f"--expect 1:0 --servers 1 --fail 1:malloc:1 -- {LOST} server 2 ::: {LOST} client 2"), small.why()
    assert "program 1, thread 0 sleeps in ibv_get_cq_event" in small.err
    assert re.search(r"program 1: CQ \d+ is armed for the next one, and has completions", small.err), small.err
    picture = (tmp_path / "shrunk.txt").read_text()
    assert re.search(r"\| 0\.0 lost +\| 0\.device +\| 1\.0 lost +\| 1\.device *$", picture, re.M), picture
    assert re.search(r"\| fault: malloc failed", picture) and re.search(r"\| RECV in CQ \d+, not armed$", picture, re.M), picture
    assert re.search(r"1\.0 lost: ibv_get_cq_event\(\)$", picture, re.M) and small.command in picture.splitlines()[-1], picture
    repeated = again(tmp_path, small)
    assert (repeated.exit, repeated.hash) == (120, small.hash), repeated.why()
    assert again(tmp_path, replace(small, command=small.command.replace("--fail 1:malloc:1 ", ""))).exit == 0
    choices = (tmp_path / "shrunk.choices").read_text()
    assert shrink(tmp_path, options, FIVE) == (left, small) and choices == (tmp_path / "shrunk.choices").read_text()


@pytest.mark.parametrize(
    "strategy, program",
    [("pct", [PROGRAMS, "take-away"]), ("pct", [PROGRAMS, "set-late"]), ("random", [CLAIMS]), ("busy", [CLAIMS])],
    ids=["take-away", "set-late", "random", "busy"],
)
def test_the_one_switch_of_threads_that_matters(strategy: str, program: list[str], tmp_path: Path) -> None:
    """The run fails with the choices that are left, and not without any one of them."""
    left, small = shrink(tmp_path, ["--strategy", strategy, "--seeds", "400"], [program])
    if program[-1] == "take-away":
        assert "| sched_yield, 20 times\n" in (tmp_path / "shrunk.txt").read_text()
    file = tmp_path / "shrunk.choices"
    choices = [line for line in file.read_text().splitlines() if not line.startswith("#")]
    assert left[4:] == [0, 0, 1] and len(choices) == 1 and re.match(r"(next|hold) 0\.\d \d+ ", choices[0]), choices
    assert again(tmp_path, small).hash == small.hash and small.exit in (1, 124)
    file.write_text("")
    assert again(tmp_path, small).exit == 0


def test_a_choice_before_the_one_that_matters_is_taken_away(tmp_path: Path) -> None:
    """A shell makes calls first, in one of which it is held up."""
    program = ["bash", "-c", f"exec {CLAIMS}"]
    shrink(tmp_path, ["--strategy", "random", "--seeds", "400"], [program])
    matters = (tmp_path / "shrunk.choices").read_text().splitlines()[-1]
    (tmp_path / "two").write_text(f"hold 0.0 3 5\n{matters}\n")
    assert shrink(tmp_path, ["--choices", "two"], [program])[0][4:] == [0, 0, 1]


@pytest.mark.parametrize("messages", [1, 7])
def test_a_client_that_fails_for_the_same_reason(messages: int, tmp_path: Path) -> None:
    """It ends with 3 for a completion. Without its server it would, too, but for an event; and a fault of the seventh message must not move to the first."""
    programs = [[*FIVE[0], str(messages)], FIVE[4], [*FIVE[2], str(messages)]]
    faults = ["--fail", f"2:ibv_post_send:{messages}:RETRY_EXC_ERR", "--fail", "1:2:SIGWINCH"]
    left, small = shrink(tmp_path, ["--expect", "0:3", *faults], programs)
    assert left[:4] == [2, 3, 1, 2] and small.exit == 3, small.why()
    assert small.command.endswith(f"--fail 1:ibv_post_send:1:RETRY_EXC_ERR -- {LOST} server 1 1 ::: {LOST} client 1 1"), small.command
    assert "\nOn stderr:\ncompletion: " in (tmp_path / "shrunk.txt").read_text()
    assert again(tmp_path, small).hash == small.hash


@pytest.mark.parametrize("fault, left", [("0:ibv_post_recv:1:PARTITION=2/9000s", "0:ibv_post_recv:1:PARTITION=1/9000s"), ("2:ibv_post_send:1:PARTITION=0", "1:ibv_post_send:1:PARTITION=0")])
def test_a_program_that_is_parted_from_another(fault: str, left: str, tmp_path: Path) -> None:
    """Without the program between the two, one of them has another number, wherever that stands."""
    _, small = shrink(tmp_path, ["--expect", "0:0", "--expect", "0:3", "--fail", fault], [FIVE[0], FIVE[4], FIVE[2]])
    assert f" --fail {left} -- {LOST} server 1 ::: {LOST} client 1" in small.command and small.exit == 3, small.why()


def test_without_choices_all_seeds_are_one_run(tmp_path: Path) -> None:
    (tmp_path / "none").write_text("# nothing\n\n")
    done = [run(tmp_path, ["--choices", "none", "--seed", seed], FIVE[:1] + FIVE[2:3]) for seed in "123"]
    assert len({read([], one.returncode, one.stdout, one.stderr).hash for one in done}) == 1, done


@pytest.mark.parametrize(
    "options, said",
    [
        ("--shrink", "--shrink: no run fails"), ("--shrink --seed 18446744073709551615", "--shrink: no run fails"), ("--choices next", "line 2 is wrong"), ("--choices draw", "line 2 is wrong"), ("--choices purpose", "line 1 is wrong"), ("--choices hold", "line 1 is wrong"),
    ],
)  # fmt: skip
def test_what_is_refused(options: str, said: str, tmp_path: Path) -> None:
    """The number of a choice is below its limit; a thread or task has a program and a number."""
    (tmp_path / "next").write_text("next 0.0 1 0.execute.1\nnext 0.0 1 0.sleep.1\n")
    (tmp_path / "draw").write_text("draw 0.0 1 waking 0 4 5\ndraw 0.0 1 waking 0 5 5\n")
    (tmp_path / "purpose").write_text("draw 0.0 1 dawdling 0 4 5\n")
    (tmp_path / "hold").write_text("hold 0 1 5\n")
    done = run(tmp_path, options.split(), [[PROGRAMS, "tick"]])
    assert done.returncode == 2 and said in done.stderr, done.stderr


@pytest.mark.parametrize(
    "options, status, missing, wrong",
    [
        ("--seeds 40 --allow always", 0, 0, 0),
        ("--seed 1 --allow always", 0, 0, 0),  # one run need not show both
        ("--seeds 2 --choices none --allow always", 124, 1, 0),
        ("--seeds 40", 124, 0, 1),
    ],
)
def test_what_a_program_says_of_itself(options: str, status: int, missing: int, wrong: int, tmp_path: Path) -> None:
    (tmp_path / "none").write_text("")
    done = run(tmp_path, options.split(), [[CLAIMS]])
    assert done.returncode == status, done.stderr
    assert len(re.findall(r"^verbs-sim: true in none of 2 runs: \S+claims\.c:\d+: the second thread is first$", done.stderr, re.M)) == missing, done.stderr
    assert len(re.findall(r"wrong: program 0: always: \S+claims\.c:\d+: the first thread is first,", done.stderr)) == wrong, done.stderr
    assert done.stderr.count("true in none") == missing, done.stderr
    assert subprocess.run([CLAIMS], timeout=60, check=False).returncode == 0, "it says so without verbs-sim"


@pytest.mark.parametrize("off", [False, True])
@pytest.mark.parametrize("compiler", ["gcc -std=c11 -pedantic", "g++ -std=c++17 -x c++", "gcc -no-pie -O2"])
def test_the_header_in_a_program_that_links_nothing(compiler: str, off: bool, tmp_path: Path) -> None:
    """Its condition is evaluated only in a run."""
    (tmp_path / "main.c").write_text('#include "verbs_sim.h"\nint main(void)\n{\n\tint n = 0;\n\n\tsim_always(++n > 1, "more");\n\treturn n;\n}\n')
    options = ["-Wall", "-Wextra", "-Werror", *["-DVERBS_SIM_OFF"] * off, f"-I{TOP}/tools/verbs-sim", "main.c", "-o", "main"]
    subprocess.run([*compiler.split(), *options], cwd=tmp_path, check=True, timeout=60)
    simulated = run(tmp_path, [], [["./main"]])
    assert subprocess.run(["./main"], cwd=tmp_path, timeout=60, check=False).returncode == 0
    assert (simulated.returncode, "always: main.c:6: more" in simulated.stderr) == ((0, False) if off else (1, True)), simulated.stderr


def test_what_occurred_and_what_never_did(tmp_path: Path) -> None:
    done = run(tmp_path, ["-q", "--coverage", "--seeds", "20", "--fail", "1:ibv_post_send:9", "--fail", "1:ibv_reg_mr:1:PORT_ERR"], [[LOST, "server", "1"], [LOST, "client", "1"]])
    said = done.stderr.partition("what occurred in 20 runs, and how often:\n")[2]
    rows = dict(re.findall(r"^  ([\w ]+): (.*)$", said, re.M))
    assert rows["completion"].startswith("RECV 160, SEND 160") and "ESTABLISHED 20" in rows["CM"] and rows["asynchronous"] == "PORT_ERR 20", said
    unfailed = {*rows["calls that never failed"].split()}
    assert rows["fault"] == "PORT_ERR at ibv_reg_mr 20" and rows["failed"] == "none" and {"ibv_reg_mr", "malloc"} <= unfailed, said
    assert "ibv_ack_cq_events" not in unfailed, "it returns nothing"
    assert re.search(r"^    program 1: completion RECV, completion SEND \d+, the other way round \d+$", said, re.M), said
    assert re.search(r"one order only:\n(    program \d: .* \d+\n)*    program 0: CM CONNECT_REQUEST, \S+ \S+ \d+$", said, re.M), said
    failing = run(tmp_path, ["--coverage", "--fail", "1:ibv_reg_mr:1"], [[LOST, "server", "1"], [LOST, "client", "1"]]).stderr
    assert re.search(r"^  failed: ibv_reg_mr 1$", failing, re.M) and not re.search(r"never failed:.* ibv_reg_mr( |$)", failing, re.M), failing
