#!/usr/bin/env python3
# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""A verb of calls.txt, and the C function that replaces it.

Place: part of generate.py, which says what a table is made of. Contract: writes no file.
"""

import re
from dataclasses import dataclass, field

# The kinds of objects, by the types of pointers to them; "qp1" is of kind QP.
KINDS = {
    f"ibv_{name} *": name.upper()
    for name in (
        *("context", "pd", "mr", "mw", "cq", "qp", "srq", "ah", "comp_channel", "xrcd", "wq"),
        *("flow", "flow_action", "counters", "dm", "td"),
    )
} | {
    "ibv_cq_ex *": "CQ",
    "ibv_qp_ex *": "QP",
    "ibv_rwq_ind_table *": "RWQ_TABLE",
    "ibv_device **": "DEVICE_LIST",
    "ibv_context **": "CONTEXT_LIST",
    "rdma_event_channel *": "EVENT_CHANNEL",
    "rdma_cm_id *": "ID",
    "rdma_cm_event *": "EVENT",
    "rdma_addrinfo *": "ADDRINFO",
}
ERRORS = {
    "errno": "error_of_errno({})",
    "minus1": "error_of_minus1({})",
    "size": "error_of_minus1((ssize_t){})",
    "new": "error_of_pointer({})",
}
# Formats of results; others are numbers.
RESULTS = {"text": "out_string", "pointer": "say_pointer", "hex": "out_hex"}
VALUES = {"port": "ntohs(ret)", "size": "(ssize_t)ret"}
DECODER = re.compile(r"(>?)(\w+)(?:\((.*)\))?$")


class Wrong(Exception):
    """A table that cannot be read."""


def kind_of(ctype: str) -> str | None:
    """The kind of object that a pointer of this type refers to, if it is an object."""
    return KINDS.get(ctype.replace("const ", "").removeprefix("struct ").strip())


def decoded(decoder: str, out: str, label: str, value: str) -> str:
    """The statement that shows a value, with the decoder that a table names."""
    match = DECODER.fullmatch(decoder)
    if not match:
        raise Wrong(f"{value}: cannot read the decoder {decoder}")
    only_if, name, more = match.groups()
    shown = f"say_{name}({out}, {label}, {value}{', ' if more else ''}{more or ''});"
    return f"if (!call.error) {shown}" if only_if else shown


@dataclass(frozen=True)
class Argument:
    """One argument of a verb."""

    ctype: str
    name: str
    decoder: str
    variadic: bool = False  # one argument at most, which is "..." in a prototype

    @property
    def declared(self) -> str:
        """The argument in a prototype."""
        return "..." if self.variadic else f"{self.ctype}{'' if self.ctype.endswith('*') else ' '}{self.name}"

    def shown(self, taken: str | None) -> str:
        """The statement that shows the argument."""
        if self.decoder == "-":
            return ""
        if self.name == taken:
            return f'out_known(call.out, "{self.name}", taken, {self.name});'
        if self.decoder == "new":
            kind = kind_of(self.ctype.removesuffix("*"))
            return f'say_new(&call, "{self.name}", KIND_{kind}, *{self.name});'
        if self.decoder:
            return decoded(self.decoder, "call.out", f'"{self.name}"', self.name)
        kind = kind_of(self.ctype)
        if kind:
            return f'out_object(call.out, "{self.name}", KIND_{kind}, {self.name});'
        how = "say_pointer" if self.ctype.endswith("*") and self.ctype != "const char *" else "out_item"
        return f'{how}(call.out, "{self.name}", {self.name});'


@dataclass(frozen=True)
class Verb:
    """One line of a table."""

    section: str
    ctype: str
    name: str
    arguments: list[Argument]
    result: str
    flags: list[str] = field(default_factory=list)

    def after(self, flag: str) -> str | None:
        """The word after a flag such as "ends"."""
        return self.flags[self.flags.index(flag) + 1] if flag in self.flags else None

    @property
    def exported(self) -> bool:
        """Returns whether it is a function of a library, and not an inline function."""
        return self.section.startswith(("IBVERBS", "RDMACM", "GLIBC"))

    @property
    def returns(self) -> bool:
        """Returns whether the verb returns something."""
        return self.ctype.strip() != "void"

    @property
    def prototype(self) -> str:
        """The arguments in a prototype."""
        return ", ".join(a.declared for a in self.arguments) or "void"

    @property
    def passed(self) -> str:
        """The arguments in a call."""
        return ", ".join(a.name for a in self.arguments)

    def hooked(self, when: str) -> str:
        """The call that the table wants before or after the verb."""
        call = self.after(when)
        return f"{call};" if call else ""

    @property
    def real(self) -> str:
        """The call of the verb itself."""
        member, first = self.after("via"), self.arguments[0] if self.arguments else None
        if self.exported:
            return f"((__typeof__(&{self.name}))real_function(VERB_{self.name}))"
        assert first
        if self.section.endswith("_ex"):
            return f"extended_{self.section}({first.name})->{member}"
        context = first.name if kind_of(first.ctype) == "CONTEXT" else f"{first.name}->context"
        return f"device_of({context})->{self.section}.{member}"

    @property
    def ours(self) -> str:
        """The name of the function that replaces the verb."""
        return self.name if self.exported else f"ours_{self.name}"

    def show_result(self) -> str:
        """The statement that closes the arguments and shows the result."""
        if self.result == "new":
            return f"say_made(&call, KIND_{kind_of(self.ctype)}, ret);"
        if not self.returns:
            return "call_close(&call);"
        how, value = RESULTS.get(self.result, "out_signed"), VALUES.get(self.result, "ret")
        return f'{how}(call_result(&call), FOR_JSON(call.out, "result"), {value});'

    def body(self) -> list[str]:
        """The function, line by line."""
        taken = self.after("ends")
        call = f"{self.real}({self.passed})"
        lines = ["struct call call;"]
        if taken:
            lines.append("struct object *taken;")
        if self.returns:
            lines.append(f"{self.ctype}ret;")
        if self.arguments and self.arguments[-1].variadic:
            lines += ["va_list rest;", "long argument;", f"va_start(rest, {self.arguments[-2].name});"]
            lines += ["argument = va_arg(rest, long);", "va_end(rest);"]
        fallback = f"{'return ' if self.returns else ''}{call};"
        traced = "tracing && settings.waits" if "waits" in self.flags else "tracing"
        lines += [f"if (!({traced})) {{", fallback, *([] if self.returns else ["return;"]), "}"]
        lines += [f"call_begin(&call, VERB_{self.name});", self.hooked("before")]
        if taken:
            kind = next(kind_of(a.ctype) for a in self.arguments if a.name == taken)
            lines.append(f"taken = object_take(KIND_{kind}, {taken});")
        lines.append(f"{'ret = ' if self.returns else ''}{call};")
        lines.append(f"call_end(&call, {ERRORS.get(self.result, '0').format('ret')});")
        lines += self.makes()
        lines.append(self.hooked("after"))
        lines += self.on_queue()
        lines.append("if (call_show(&call)) {")
        lines += [a.shown(taken) for a in self.arguments]
        if "completion" in self.flags:
            lines.append("if (!ret) say_extended_completion(call.out, cq);")
        lines += [self.show_result(), "call_done(&call);", "}"]
        if taken:
            lines.append("if (call.error) object_put_back(taken); else object_ended(taken);")
        lines.append("call_leave(&call);")
        if self.returns:
            lines.append("return ret;")
        return [line for line in lines if line]

    def on_queue(self) -> list[str]:
        """The statements that store the queue of a verb that moves messages."""
        kind = kind_of(self.arguments[0].ctype) if "data" in self.flags else None
        return [f"call.queue_kind = KIND_{kind};", f"call.queue = {self.arguments[0].name};"] if kind else []

    def makes(self) -> list[str]:
        """The statements that store a new object."""
        made = [(kind_of(self.ctype), "ret")] if self.result == "new" else []
        made += [
            (kind_of(a.ctype.removesuffix("*")), f"*{a.name}")
            for a in self.arguments
            if a.decoder == "new"
        ]
        return [
            f"if (!call.error) object_made(KIND_{kind}, {what}, !call.inner, call_moment(&call));"
            for kind, what in made
        ]

    def function(self) -> str:
        """The whole function."""
        if "counted" in self.flags:
            return self.counted()
        linkage = "EXPORTED " if self.exported else "static "
        head = f"{self.ctype}{self.ours}({self.prototype})"
        body = "\n".join(f"\t{line}" for line in self.body())
        before = f"#undef {self.name}\n{head};\n" if self.exported else ""
        return f"{before}{linkage}{head}\n{{\n{body}\n}}\n"

    def counted(self) -> str:
        """The whole function, with the short way of call.h first, which must not cost more than it needs."""
        body = "\n".join(f"\t{line}" for line in self.body())
        error = ERRORS[self.result].format("ret")
        steps = [f"counted_begin(&call, VERB_{self.name});", self.hooked("before")]
        steps += [f"ret = {self.real}({self.passed});", self.hooked("after"), f"counted_end(&call, {error});", "return ret;"]
        return (
            f"static __attribute__((noinline)) {self.ctype}told_{self.name}({self.prototype})\n{{\n{body}\n}}\n\n"
            f"static {self.ctype}{self.ours}({self.prototype})\n{{\n\tstruct call call;\n\t{self.ctype}ret;\n\n"
            f"\tif (!call_is_counted(VERB_{self.name}))\n\t\treturn told_{self.name}({self.passed});\n"
            + "".join(f"\t{step}\n" for step in steps if step)
            + "}\n"
        )
