# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""The options -t and -T of the stages: the program runs under verbs-trace, wherever the two are."""

import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from tracing import LIMIT, TOOL, TOP, Ended

CLIENT = "ping-sr-0/client"
ARGUMENTS = ("-a", "127.0.0.1", "-c", "1", "-j")  # no RDMA device serves this address
TRACED = re.compile(rf"^{CLIENT}:   \d\.\d{{6}} t1 rdma_create_id\(", re.MULTILINE)


class Option(unittest.TestCase):
    """A copy of a client, with or without the tool near it."""

    def setUp(self) -> None:
        """Copies the client to a folder of the test's."""
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.top = Path(scratch.name)

    def install(self, *files: str, under: str) -> Path:
        """Copies files of the project, and returns the path of the first."""
        for name in files:
            (self.top / under / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(TOP / name, self.top / under / name)
        return self.top / under / files[0]

    def with_tool(self, under: str) -> Path:
        """Copies the client and the tool, and returns the client's path."""
        return self.install(CLIENT, "tools/verbs-trace/verbs-trace", "tools/verbs-trace/libverbs-trace.so", under=under)

    def run_client(self, client: Path, *words: str, tool: str | None = None) -> Ended:
        """Runs a client, with this tool in the environment, and only with that."""
        env = {k: v for k, v in os.environ.items() if k not in ("VERBS_TRACE_TOOL", "OUR_TRACED")}
        env |= {"VERBS_TRACE_TOOL": tool} if tool is not None else {}
        command = [str(client), *words, *ARGUMENTS]
        return subprocess.run(command, cwd="/", env=env, text=True, timeout=LIMIT, check=False, capture_output=True)

    def assert_traced(self, client: Path, tool: str | None = None) -> None:
        """Checks that the client's trace is on stderr, and that it ends as it does without one."""
        plain = self.run_client(client)
        self.assertNotRegex(plain.stderr, TRACED)
        for option in ("-t", "-T", "--trace"):
            traced = self.run_client(client, option, tool=tool)
            self.assertRegex(traced.stderr, TRACED)
            self.assertEqual((traced.returncode, traced.stdout), (plain.returncode, plain.stdout))
            self.assertIn(plain.stderr, traced.stderr)

    def test_as_built(self) -> None:
        """The tool is in the directory tools/verbs-trace/ beside that of the stage."""
        self.assert_traced(self.with_tool("project"))

    def test_path_with_a_space(self) -> None:
        """The dynamic loader splits LD_PRELOAD at spaces and colons."""
        self.assert_traced(self.with_tool("a path: mine"))

    def test_side_by_side(self) -> None:
        """The tool is beside the program, and its library in lib/verbs-trace/."""
        for source, target in ((CLIENT, "bin"), ("tools/verbs-trace/verbs-trace", "bin"), ("tools/verbs-trace/libverbs-trace.so", "lib/verbs-trace")):
            (self.top / target).mkdir(parents=True, exist_ok=True)
            shutil.copy(TOP / source, self.top / target)
        self.assert_traced(self.top / "bin/client")

    def test_named(self) -> None:
        """The environment names the tool."""
        self.assert_traced(self.install(CLIENT, under="alone"), tool=TOOL)

    def test_missing(self) -> None:
        """One line says how to get verbs-trace, and nothing is done."""
        client = self.install(CLIENT, under="alone")
        for tool, word in ((None, str(client)), ("/nowhere/verbs-trace", "cannot execute /nowhere/verbs-trace")):
            ended = self.run_client(client, "-t", tool=tool)
            self.assertEqual((ended.returncode, ended.stdout), (2, ""))
            self.assertEqual(len(ended.stderr.splitlines()), 1, ended.stderr)
            self.assertIn("`make verbs-trace`", ended.stderr)
            self.assertIn(word, ended.stderr)

    def test_same_process(self) -> None:
        """The tool gets the program's process id, so signals reach it, and all its arguments."""
        tool = self.top / "tool"
        tool.write_text("#!/bin/sh\necho $$\nprintf '<%s>' \"$@\"\n")
        tool.chmod(0o755)
        client = self.install(CLIENT, under="alone")
        command = [str(client), "-T", "-a", "name with spaces"]
        with subprocess.Popen(command, env={"VERBS_TRACE_TOOL": str(tool)}, stdout=subprocess.PIPE, text=True) as process:
            told, _ = process.communicate(timeout=LIMIT)
        pid, words = told.split("\n")
        self.assertEqual(int(pid), process.pid)
        self.assertTrue(words.endswith(f"<{client}><-T><-a><name with spaces>"), words)

    def test_wrong_usage_comes_first(self) -> None:
        """A command line that is not accepted is not traced."""
        ended = self.run_client(self.install(CLIENT, under="alone"), "-t", "-s", "0")
        self.assertEqual(ended.returncode, 2)
        self.assertNotIn("verbs-trace", ended.stderr)
