#!/usr/bin/env python3
# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Writes the functions by which verbs-sim names a call of the libraries that it does not simulate, from the table calls.txt.

Place: run by the Makefile. Contract: stubs.py FILE.c writes a weak function for each call that the libraries
export. One that is simulated has another function of the same name, which the linker takes. What only looks something
up is left to the library. stubs.py FILE.map writes the version of each function, for the linker: who asks for a function
by its version, as verbs-trace does, gets verbs-sim's. With VERSIONS, such as GLIBC, only those that begin so.
"""

import sys
from pathlib import Path

from generate import read_table
from verb import Verb

# Beside the calls that return a text, those that need neither a device nor an object.
LOOK_UPS = {
    *("ibv_rate_to_mult", "mult_to_ibv_rate", "ibv_rate_to_mbps", "mbps_to_ibv_rate", "ibv_is_fork_initialized"),
    *("ibv_copy_path_rec_from_kern", "ibv_copy_path_rec_to_kern", "ibv_copy_qp_attr_from_kern", "ibv_copy_ah_attr_from_kern"),
}
HEAD = """/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Written by stubs.py. */
#include <sys/select.h>
#include <rdma/rdma_cma.h>
#include <rdma/rsocket.h>
#include "verbs-sim/calls/call.h"
struct ib_user_path_rec;
struct ib_uverbs_qp_attr;
struct ib_uverbs_ah_attr;
#pragma GCC diagnostic ignored "-Wunused-parameter"
"""


def is_needed(verb: Verb) -> bool:
    """Whether a program that calls it must be told so."""
    return "waits" not in verb.flags and verb.result != "text" and verb.name not in LOOK_UPS


def function(verb: Verb) -> str:
    """The function that ends the run."""
    head = f"{verb.ctype}{verb.name}({verb.prototype})"
    return f'#undef {verb.name}\n{head};\nEXPORTED __attribute__((weak)) {head}\n{{\n\tsim_unknown("{verb.name}");\n}}\n'


def exported() -> list[Verb]:
    """All functions of libraries, also the waits of libc."""
    return [verb for verb in read_table() if verb.exported]


def version(section: str) -> str:
    """A node of the linker's script."""
    names = "".join(f"\t\t{verb.name};\n" for verb in exported() if verb.section == section)
    return f"{section} {{\n\tglobal:\n{names}}};\n"


def main() -> int:
    """Reads the table, writes the file."""
    if len(sys.argv) not in (2, 3):
        print("usage: stubs.py FILE.c|FILE.map [VERSIONS]", file=sys.stderr)
        return 2
    path = Path(sys.argv[1])
    wanted = sys.argv[2] if len(sys.argv) == 3 else ""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".map":
        path.write_text("".join(map(version, dict.fromkeys(verb.section for verb in exported() if verb.section.startswith(wanted)))))
    else:
        path.write_text("\n".join([HEAD, *map(function, filter(is_needed, exported()))]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
