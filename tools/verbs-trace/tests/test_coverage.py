# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Checks that verbs-trace has every verb that the installed libraries have."""

import re
import unittest
from pathlib import Path

from tracing import TOP, run

TABLE = TOP / "tools/verbs/calls.txt"
# Inline functions and tables of infiniband/verbs.h that call no function of the device.
MEMBERS_LEFT_OUT = {"priv", "ABI_placeholder1", "ABI_placeholder2", "sz", "context"}

# Debian 12's infiniband/verbs.h does not have it, so we could not be compiled there: tools/verbs-trace/README.md.
TOO_NEW = {"wr_flush"}


def library(name: str) -> Path:
    """Returns the path at which the loader finds a library."""
    for line in run("/sbin/ldconfig", "-p").stdout.splitlines():
        if match := re.match(rf"\s+{re.escape(name)} \(.*x86-64.*\) => (\S+)", line):
            return Path(match[1])
    raise FileNotFoundError(name)


def exported(name: str) -> dict[str, str]:
    """Returns the functions of a library and their versions, without those for providers alone."""
    out = run("nm", "-D", "--defined-only", library(name)).stdout
    found = re.findall(r" [TWi] (\w+)@@((?:IBVERBS|RDMACM)_[\d.]+)$", out, re.MULTILINE)
    return dict(found)


def tabled() -> dict[str, str]:
    """Returns the functions of the table and their versions."""
    found, section = {}, ""
    for line in TABLE.read_text().splitlines():
        if line.startswith("["):
            section = line.strip("[]")
        elif match := re.match(r"[^#(]*[ *](\w+)\(", line):
            if section.startswith(("IBVERBS", "RDMACM", "GLIBC")):
                found[match[1]] = section
    return found


def members(struct: str) -> set[str]:
    """Returns the functions in a table of infiniband/verbs.h."""
    header = Path("/usr/include/infiniband/verbs.h").read_text()
    match = re.search(rf"^struct {struct} {{(.*?)^}};", header, re.MULTILINE | re.DOTALL)
    assert match
    return set(re.findall(r"\(\*(\w+)\)\s*\(", match[1]))


def via(section: str) -> set[str]:
    """Returns the functions of a table that verbs-trace replaces."""
    text = TABLE.read_text().split(f"[{section}]")[1].split("\n[")[0]
    return set(re.findall(r"via (\w+)", text))


class Coverage(unittest.TestCase):
    """Our lists beside the libraries'."""

    def test_libibverbs_and_librdmacm(self) -> None:
        """Each function that a program can call is in the table, with its version."""
        theirs = exported("libibverbs.so.1") | exported("librdmacm.so.1")
        self.assertGreater(len(theirs), 130)
        self.assertEqual({n: v for n, v in theirs.items() if tabled().get(n) != v}, {})

    def test_the_shared_object(self) -> None:
        """The shared object has its own function for each."""
        out = run("nm", "-D", "--defined-only", TOP / "tools/verbs-trace/libverbs-trace.so").stdout
        ours = set(re.findall(r" T (\w+)$", out, re.MULTILINE))
        self.assertEqual(set(tabled()) - ours, set())
        self.assertEqual(ours - set(tabled()), {"_exit", "_Exit"})

    def test_functions_of_the_device(self) -> None:
        """verbs-trace has each function in the tables of a context."""
        ops = {m for m in members("ibv_context_ops") if not m.startswith("_compat")}
        self.assertEqual(ops - via("ops"), set())
        more = members("verbs_context") - MEMBERS_LEFT_OUT
        self.assertEqual(more - via("verbs_context"), set())

    def test_functions_of_extended_queues(self) -> None:
        """verbs-trace has each, except those that only read a completion."""
        cq = {m for m in members("ibv_cq_ex") if not m.startswith("read_")}
        self.assertEqual(cq, via("cq_ex"))
        self.assertEqual(members("ibv_qp_ex") - TOO_NEW, via("qp_ex"))
