# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Programs must behave under verbs-trace as they do without it; programs that cannot be traced are refused."""

import os
import shutil
import signal
import subprocess
import tempfile
import unittest
from pathlib import Path

from tracing import BUILT, LIMIT, TOOL, Ended, records, run, trace

HARMLESS = BUILT / "harmless"
HOWS = (
    *("status", "_exit", "killed", "terminated", "aborts", "threads", "cancelled", "forks", "execs"),
    *("closes", "errno", "polls", "forks beside"),
)


class Harmless(unittest.TestCase):
    """Exit statuses, signals, descriptors, threads, children."""

    def both(self, how: str, *options: str) -> tuple[Ended, Ended]:
        """Runs a program without verbs-trace, and with it."""
        return run(HARMLESS, how), trace(*options, HARMLESS, how)

    def test_ends_as_it_would(self) -> None:
        """Exit status or signal, and stdout."""
        for how in HOWS:
            for options in ((), ("-c", "-f")):
                with self.subTest(how=how, options=options):
                    without, traced = self.both(how, *options)
                    self.assertEqual(traced.returncode, without.returncode, traced.stderr)
                    self.assertEqual(traced.stdout, without.stdout)

    def test_signals_are_what_they_are(self) -> None:
        """The test itself: a signal's number, not 128 and it."""
        self.assertEqual(trace(HARMLESS, "killed").returncode, -signal.SIGKILL)
        self.assertEqual(trace(HARMLESS, "terminated").returncode, -signal.SIGTERM)

    def test_address_sanitizer(self) -> None:
        """Its runtime refuses to start after another library, unless an option allows it."""
        program = BUILT / "harmless-address"
        ended = trace(program, "status", env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0"})
        self.assertEqual(ended.returncode, run(program, "status").returncode, ended.stderr)
        self.assertIn("ibv_get_device_list(", ended.stderr)

    def test_report_of_one_that_is_terminated(self) -> None:
        """The report comes before the end, also if the program leaves by _exit."""
        for how in ("terminated", "_exit"):
            self.assertIn("ibv_get_device_list", trace("-c", HARMLESS, how).stderr)

    def test_a_line_without_room(self) -> None:
        """Items that do not fit are left out, and the line says so."""
        (line,) = [r for r in records(trace("-jw", HARMLESS, "polls many").stderr) if r.get("call") == "poll"]
        self.assertIs(line["args"]["cut"], True)
        self.assertEqual((line["args"]["fds"][0]["fd"], line["result"]), (-(2**31), 0))

    def test_terminated_while_it_is_traced(self) -> None:
        """The signal may come anywhere in our code; each time it ends the program, after its report."""
        for options in ((), ("-c",)):
            for _ in range(10):
                with tempfile.TemporaryDirectory() as scratch:
                    ended = trace(*options, "-o", f"{scratch}/trace", HARMLESS, "busy")
                    self.assertEqual(ended.returncode, -signal.SIGTERM, ended.stderr)
                    self.assertIn("ibv_wc_status_str", Path(scratch, "trace").read_text())

    def test_stderr_closed(self) -> None:
        """The trace goes on without the program's stderr."""
        self.assertEqual(trace(HARMLESS, "closes").stderr.count("ibv_get_device_list("), 6)

    def test_stdin_closed(self) -> None:
        """The trace is whole, though the first file that is opened gets its number, and the program has no descriptors but its own."""
        with tempfile.TemporaryDirectory() as scratch:
            ends = [run("sh", "-c", 'exec "$@" <&-', "sh", *words, HARMLESS, "descriptors") for words in ((), (TOOL, "-j", "-o", f"{scratch}/trace"))]
            self.assertEqual([(one.returncode, one.stdout, one.stderr) for one in ends], 2 * [(0, ends[0].stdout, "")])
            first, *calls = records(Path(scratch, "trace").read_text())
            self.assertEqual((first["program"], first["boot_id"]), ([str(HARMLESS), "descriptors"], Path("/proc/sys/kernel/random/boot_id").read_text().strip()))
            self.assertIn("ibv_get_device_list", [one.get("call") for one in calls])

    def test_stderr_fails(self) -> None:
        """stderr is full, or nobody reads it any more: the program ends as without us, and our SIGPIPE does not kill it."""
        reader, unread = os.pipe()
        os.close(reader)
        full = os.open("/dev/full", os.O_WRONLY)
        for stderr in (full, unread):
            for how in ("status", "threads"):
                with self.subTest(how=how, stderr=stderr):
                    ends = [
                        subprocess.run([*words, HARMLESS, how], stdout=subprocess.PIPE, stderr=stderr, timeout=LIMIT, check=False)
                        for words in ((), (TOOL,))
                    ]
                    self.assertEqual(ends[1].returncode, ends[0].returncode)
                    self.assertEqual(ends[1].stdout, ends[0].stdout)
        os.close(unread)
        os.close(full)

    def test_all_closed(self) -> None:
        """A trace to a file goes on, too; nothing goes into files that the program has opened."""
        with tempfile.TemporaryDirectory() as scratch:
            ended = trace("-o", f"{scratch}/trace", HARMLESS, "closes all")
            self.assertEqual((ended.returncode, ended.stderr), (0, ""))
            self.assertIn("ibv_get_device_list", Path(scratch, "trace").read_text())

    def test_threads(self) -> None:
        """Each line is whole, and each call is there."""
        told = records(trace("-j", HARMLESS, "threads").stderr)
        calls = [r for r in told if r.get("call") == "ibv_get_device_list"]
        self.assertEqual(len(calls), 1 + 8 * 5)
        self.assertEqual({r["thread"] for r in calls}, set(range(1, 10)))

    def test_a_thread_after_one_that_ended_within_a_call(self) -> None:
        """The new thread has its own calls: each is there, and none is a library's."""
        calls = [r["call"] for r in records(trace("-j", HARMLESS, "cancelled within").stderr) if "call" in r]
        self.assertEqual(calls.count("ibv_get_device_list"), 1 + 5)

    def test_waits(self) -> None:
        """poll(2) works as before, and is shown with -w only."""
        for options in ((), ("-w",)):
            ended = trace("-j", *options, HARMLESS, "polls")
            self.assertEqual(ended.returncode, 0, ended.stderr)
            calls = [r for r in records(ended.stderr) if r.get("call", "").endswith("poll")]
            waits = [(c["call"], c["result"], c.get("error"), c["args"]["fds"][0]["revents"]) for c in calls]
            expected = [("poll", 1, None, "IN"), ("poll", 0, None, "0"), ("ppoll", -1, "EINVAL", "0")]
            self.assertEqual(waits, expected if options else [])

    def test_children(self) -> None:
        """Children are traced only with -f, and objects of the parent are no leaks of the child."""
        told = {o: records(trace("-j", *o, HARMLESS, "forks").stderr) for o in ((), ("-f",))}
        self.assertEqual(len({r["pid"] for r in told[()]}), 1)
        self.assertEqual(len({r["pid"] for r in told[("-f",)]}), 2)
        self.assertEqual({r["tid"] - r["pid"] for r in told[("-f",)] if "call" in r}, {0}, "each has one thread, whose number is the process's")
        self.assertEqual([r for r in told[("-f",)] if "accusation" in r], [])
        rows = [r for r in records(trace("-j", "-c", "-f", HARMLESS, "forks").stderr) if r.get("summary") == "ibv_get_device_list"]
        self.assertEqual(sorted(r["calls"] for r in rows), [1, 2])

    def test_exec(self) -> None:
        """A program that this one executes in its place is traced with -f only."""
        self.assertEqual(trace(HARMLESS, "execs").stderr.count("ibv_get_device_list("), 1)
        self.assertEqual(trace("-f", HARMLESS, "execs").stderr.count("ibv_get_device_list("), 2)

    def test_environment(self) -> None:
        """Programs that the traced one starts do not see us."""
        ours = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
        told = trace("/bin/sh", "-c", "/usr/bin/env", env=ours).stdout
        self.assertIn("PATH=", told)
        self.assertNotIn("VERBS_TRACE", told)
        self.assertNotIn("LD_PRELOAD", told)

    def test_a_path_with_a_space(self) -> None:
        self.assert_traced_from(" a")

    def test_a_path_with_a_colon(self) -> None:
        self.assert_traced_from(":b")

    def assert_traced_from(self, suffix: str) -> None:
        """LD_PRELOAD is split at both. The program sees no descriptor of ours."""
        with tempfile.TemporaryDirectory(suffix=suffix) as scratch:
            for name in ("verbs-trace", "libverbs-trace.so"):
                shutil.copy(Path(TOOL).parent / name, scratch)
            there = Path(scratch, "verbs-trace")
            for how in ("status", "forks", "closes"):
                with self.subTest(how=how):
                    without, traced = run(HARMLESS, how), run(there, HARMLESS, how)
                    self.assertEqual((traced.returncode, traced.stdout), (without.returncode, without.stdout))
                    self.assertIn("ibv_get_device_list(", traced.stderr)
            executed = run(there, "-f", HARMLESS, "execs").stderr
            self.assertEqual(executed.count("ibv_get_device_list("), 2)
            self.assertNotIn(scratch, run(there, "/bin/ls", "-l", "/proc/self/fd").stdout)


class Refused(unittest.TestCase):
    """A program that cannot be run, and wrong usage, give one line that says why."""

    def refused(self, status: int, word: str, *words: str | Path) -> None:
        """Runs a command that is refused: no program has run."""
        ended = trace(*words)
        self.assertEqual((ended.returncode, ended.stdout), (status, ""), ended.stderr)
        self.assertEqual(len(ended.stderr.splitlines()), 1)
        self.assertIn(word, ended.stderr)

    def test_not_there(self) -> None:
        """The exit status is a shell's."""
        self.refused(127, "there-is-no-such-program", "there-is-no-such-program")
        self.refused(126, "/etc/passwd", "/etc/passwd")

    def test_usage(self) -> None:
        """Exit status 2."""
        self.refused(2, "no program given")
        for words, reason, neighbour in (
            ("-s x", "-s x: not a number", "-s 0"), ("-s 4x", "-s 4x: not a number", "-s 4"), ("-s -1", "-s -1: not a number", "-s 0"), ("-s 4097", "-s 4097: not a number from 0 to 4096", "-s 4096"),
            (f"-e {'e' * 201}", "-e: too long", f"-e {'e' * 200}"), (f"-l {'l' * 61}", "-l: too long", f"-l {'l' * 60}"),
        ):  # fmt: skip
            self.refused(2, reason, *words.split(), HARMLESS)
            self.assertEqual(trace(*neighbour.split(), HARMLESS, "status").returncode, 42)
        for option in "-e", "-l":
            self.refused(2, f"{option}: too long", option, "two\nlines", HARMLESS)
        self.refused(2, "-o /nowhere/x", "-o", "/nowhere/x", HARMLESS)
        self.assertEqual(trace("-Z", HARMLESS).returncode, 2)
