#!/usr/bin/env python3
# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Writes the functions by which verbs-sim sees what a program calls, from the table calls.txt.

Place: run by the Makefile. Contract: wrappers.py FILE.c writes a function in the place of each call of libibverbs and
librdmacm, which enters it (tools/verbs-sim/calls/verb.h), makes it fail if that was asked for, and otherwise calls the library. What
only looks something up is left to the library. wrappers.py FILE.map writes the version of each function, for the linker:
who asks for a function by its version, as verbs-trace does, gets verbs-sim's.
"""

import sys
from pathlib import Path

from generate import installer, read_table
from verb import Verb, kind_of

# Beside the calls that return a text, those that need neither a device nor an object.
LOOK_UPS = {
    *("ibv_rate_to_mult", "mult_to_ibv_rate", "ibv_rate_to_mbps", "mbps_to_ibv_rate", "ibv_is_fork_initialized"),
    *("ibv_copy_path_rec_from_kern", "ibv_copy_path_rec_to_kern", "ibv_copy_qp_attr_from_kern", "ibv_copy_ah_attr_from_kern"),
}
# The error with which a call fails if --fail names none: from its man page. Others are found by usual_error().
USUAL = {
    "ibv_create_comp_channel": "EMFILE",
    "ibv_get_pkey_index": "ENOENT",
    "ibv_query_gid_ex": "ENODATA",
    "ibv_query_pkey": "ENOENT",
    "rdma_bind_addr": "EADDRINUSE",
    "rdma_create_ep": "ENODEV",
    "rdma_create_event_channel": "ENODEV",
    "rdma_create_id": "ENODEV",
    "rdma_get_devices": "ENODEV",
    "rdma_leave_multicast": "EADDRNOTAVAIL",
    "rdma_listen": "EADDRINUSE",
    "rdma_resolve_addr": "EADDRNOTAVAIL",
    "rdma_resolve_route": "EHOSTUNREACH",
    "rdma_set_option": "ENOSYS",
}
# Verbs that return a number, and fail only if their argument is NULL.
NEVER_FAIL = {"rdma_ack_cm_event"}
OUT_OF_MEMORY = ("_post_", "_complete", "_create_", "_attach_", "_migrate_", "rdma_accept", "rdma_connect", "rdma_get_request")
HEAD = """/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Written by wrappers.py. */
#include <poll.h>
#include <sys/select.h>
#include <rdma/rdma_cma.h>
#include <rdma/rsocket.h>
#include "verbs-sim/calls/verb.h"
struct ib_user_path_rec;
struct ib_uverbs_qp_attr;
struct ib_uverbs_ah_attr;
"""
# Functions that the table of verbs-trace calls when a program gets an object with a table of functions.
INSTALLS = {
    "device_opened": "sim_install_context(ret)",
    "extended_new_cq": "sim_install_cq_ex(ret)",
    "extended_new_qp": "sim_install_qp_ex(ret)",
}
INTEGERS = ("int", "unsigned int", "size_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t")


def name_of(verb: Verb) -> str:
    """As a program writes it: ibv_reg_mr is a macro, which calls one of three functions."""
    return "ibv_reg_mr" if verb.name.startswith("ibv_reg_mr_iova") else verb.name.lstrip("_")


def usual_error(verb: Verb) -> str:
    """The error with which the call fails by itself; 0: it does not tell of one."""
    name = name_of(verb)
    if verb.result not in ("errno", "minus1", "size", "new") or name in NEVER_FAIL:
        return "0"
    if name in USUAL:
        return USUAL[name]
    if "poll" in name or name.endswith("_event"):
        return "EIO"
    if verb.result == "new" or any(part in name for part in OUT_OF_MEMORY):
        return "ENOMEM"
    busy = name.startswith(("ibv_destroy_", "ibv_close_", "ibv_dealloc_")) and name != "ibv_destroy_ah"
    return "EBUSY" if busy else "EINVAL"


def failed(verb: Verb) -> str:
    """Returns the result of a call that --fail makes fail, and the test of its own failure."""
    return {"new": "NULL", "errno": "way", "minus1": "-1", "size": "(size_t)-1"}.get(verb.result, "")


def shown(verb: Verb) -> str:
    """Returns the text of a call for --trace: a format of printf, and its arguments. Addresses differ from run to run."""
    shows = [(a.name, "%lld", f"(long long){a.name}") for a in verb.arguments if a.ctype in INTEGERS and a.decoder != "hex"]
    shows += [(a.name, "%s", f'{a.name} ? {a.name} : "NULL"') for a in verb.arguments if a.ctype == "const char *"]
    text = ", ".join(f"{name} {how}" for name, how, _ in shows)
    return "".join([f'"{name_of(verb)}({text})"', *(f", {value}" for _, _, value in shows)])


def body_of(verb: Verb, real: str) -> str:
    """The lines of a function that is not counted, around the call of the real one."""
    begins = f'sim_begin_verb(SIM_NAME("{name_of(verb)}"), {usual_error(verb)}, __builtin_return_address(0), {shown(verb)})'
    lines = [f"{verb.ctype}ret;"] if verb.returns else []
    if failed(verb):
        lines += [f"int way = {begins};", "if (way)", f"\treturn {failed(verb)};"]
    else:
        lines += [f"{begins};"]
    lines += [f"ret = {real};" if verb.returns else f"{real};"]
    after = (verb.after("after") or "").partition("(")[0]
    if after in INSTALLS:
        lines += ["if (ret)", f"\t{INSTALLS[after]};"]
    has_failed = {"new": "!ret", "errno": "ret != 0", "minus1": "ret < 0", "size": "(ssize_t)ret < 0"}.get(verb.result, "false")
    lines += [f"sim_end_verb({has_failed});", *(["return ret;"] if verb.returns else [])]
    return "".join(f"\t{line}\n" for line in lines)


def exported(verb: Verb) -> str:
    """The function of a library."""
    prototype = f"{verb.ctype}{verb.name}({verb.prototype})"
    body = body_of(verb, f'REAL_VERB({verb.name}, "{verb.section}")({verb.passed})')
    return f"#undef {verb.name}\n{prototype};\nEXPORTED {prototype}\n{{\n{body}}}\n"


def kept(verb: Verb) -> str:
    """The function that the library has put into the table."""
    first = verb.arguments[0]
    if verb.section.endswith("_ex"):
        return f"sim_kept_{verb.section}.{verb.after('via')}"
    context = first.name if kind_of(first.ctype) == "CONTEXT" else f"{first.name}->context"
    return f"sim_kept_of({context})->{verb.section}.{verb.after('via')}"


def is_post(verb: Verb) -> bool:
    """Returns whether it takes a chain of requests."""
    return any(a.decoder.startswith(("send_wrs", "recv_wrs")) for a in verb.arguments)


def inline(verb: Verb) -> str:
    """The function that takes the place of one in a table. A post has a form of its own."""
    if is_post(verb):
        queue, request = (a.ctype.rstrip("* ") for a in verb.arguments[:2])
        return f"POSTS({verb.name}, {queue}, {request}, {verb.after('via')})\n"
    real = f"{kept(verb)}({verb.passed})"
    lines = ["int way;", "if (!sim_sees_call())", f"\treturn {real};", f'way = SIM_CALL("{verb.name}", {usual_error(verb)});']
    lines += [f"return way ? {failed(verb)} : SIM_INSIDE({real});"]
    body = "".join(f"\t{line}\n" for line in lines) if "data" in verb.flags else body_of(verb, real)
    return f"static {verb.ctype}ours_{verb.name}({verb.prototype})\n{{\n{body}}}\n"


def is_wrapped(verb: Verb) -> bool:
    """Returns whether verbs-sim wants to see the call."""
    if not verb.exported:
        return verb.returns and bool(failed(verb))
    variadic = bool(verb.arguments) and verb.arguments[-1].variadic
    return "waits" not in verb.flags and verb.result != "text" and verb.name not in LOOK_UPS and not variadic


def functions() -> str:
    """All of them."""
    verbs = [verb for verb in read_table() if is_wrapped(verb)]
    tables = dict.fromkeys(verb.section for verb in verbs if not verb.exported)
    parts = [HEAD, *(inline(v) for v in verbs if not v.exported)]
    parts += [installer(table, [v for v in verbs if v.section == table]) for table in tables]
    return "\n".join([*parts, *(exported(v) for v in verbs if v.exported)])


def versions() -> str:
    """The linker's script. The waits of libc are in calls/libc_*.c."""
    verbs = [verb for verb in read_table() if verb.exported and ("waits" in verb.flags or is_wrapped(verb))]
    nodes = []
    for section in dict.fromkeys(verb.section for verb in verbs):
        names = "".join(f"\t\t{verb.name};\n" for verb in verbs if verb.section == section)
        nodes.append(f"{section} {{\n\tglobal:\n{names}}};\n")
    return "".join(nodes)


def main() -> int:
    """Reads the table, writes the file."""
    if len(sys.argv) != 2:
        print("usage: wrappers.py FILE.c|FILE.map", file=sys.stderr)
        return 2
    path = Path(sys.argv[1])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(versions() if path.suffix == ".map" else functions())
    return 0


if __name__ == "__main__":
    sys.exit(main())
