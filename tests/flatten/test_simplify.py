# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Place: tests of tools/flatten/simplify.py and what it uses: what is removed from a program, and what must stay
because it may have an effect."""

from __future__ import annotations

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from tools.flatten import source  # noqa: E402
from tools.flatten.simplify import simplify  # noqa: E402

OPTIONS = "struct options {\n\tuint64_t rate;\n\tuint64_t size;\n};\n\n"
MAIN = (
    "int main(void)\n{\n\tstruct options options;\n\n\tmemset(&options, 0, sizeof(options));\n"
    "\toptions.size = read_size();\n\treturn run(&options) + run(&options);\n}\n"
)


def simplified(text: str, impossible: dict[str, set[str]] | None = None) -> dict[str, str]:
    """The functions that are left, by name."""
    items = [source.item_of(chunk, "", "x.c") for chunk in source.chunks(text)]
    left, _ = simplify([item for item in items if item], impossible or {})
    return {item.names[0]: item.text for item in left if item.kind == "function"}


def body(text: str) -> list[str]:
    return [line.strip() for line in text.split("\n")[2:-1] if line.strip()]


class Members(unittest.TestCase):
    """What is stored in members that nobody, or somebody, looks at."""

    def run_of(self, lines: list[str]) -> list[str]:
        types = OPTIONS + "struct state {\n\tint ended;\n\tstruct options *at;\n};\n\n"
        text = "int run(struct state *state)\n{\n\t" + "\n\t".join(lines) + "\n}\n\n"
        main = (
            "int main(void)\n{\n\tstruct state state;\n\n\tstate.at = g();\n\tstate.ended = g();\n"
            "\treturn run(&state) + run(&state);\n}\n"
        )
        return body(simplified(types + text + main)["run"])

    def test_what_only_guards_its_own_store_is_not_read(self) -> None:
        self.assertEqual(self.run_of(["if (!state->ended)", "\tstate->ended = f();", "return g(state->at);"]),
                         ["if (!state->ended)", "state->ended = f();", "return g(state->at);"])  # fmt: skip
        self.assertEqual(self.run_of(["if (!state->ended)", "\tstate->ended = 1;", "h();", "return g(state->at);"]),
                         ["h();", "return g(state->at);"])  # fmt: skip

    def test_null_that_nobody_looks_for_goes(self) -> None:
        self.assertEqual(self.run_of(["g(state->at);", "state->at = NULL;", "return h();"]), ["g(state->at);", "return h();"])

    def test_null_that_somebody_looks_for_stays(self) -> None:
        lines = ["if (state->at)", "\tg(state->at);", "state->at = NULL;", "return h();"]
        self.assertEqual(self.run_of(lines), [line.strip() for line in lines])

    def test_a_check_of_what_was_stored_just_now_does_not_count(self) -> None:
        lines = ["state->at = f();", "if (!state->at)", "\treturn 1;", "g(state->at);", "state->at = NULL;", "return h();"]
        self.assertNotIn("state->at = NULL;", self.run_of(lines))


class Whole(unittest.TestCase):
    def check(self, lines: list[str], after: list[str], types: str = OPTIONS, main: str = MAIN) -> None:
        text = types + "int run(struct options *options)\n{\n\t" + "\n\t".join(lines) + "\n}\n\n" + main
        left = simplified(text.replace("\n\t\n", "\n\n"))
        self.assertEqual(body(left["run"]), after)

    def test_a_variable_that_takes_over_a_value_is_the_only_one(self) -> None:
        lines = ["struct options *made = f();", "struct options *kept;", "", "if (!made)", "\treturn 1;", "g(made);",
                 "kept = made;", "return h(kept);"]  # fmt: skip
        self.check(lines, ["struct options *kept = f();", "if (!kept)", "return 1;", "g(kept);", "return h(kept);"])

    def test_a_variable_that_changes_afterwards_stays(self) -> None:
        lines = ["struct options *made = f(), *kept;", "", "g(made);", "kept = made;", "made = f();", "return h(kept, made);"]
        self.check(lines, [line for line in lines if line])

    def test_what_is_0_is_not_made_0(self) -> None:
        lines = ["int ret = f();", "", "if (!ret)", "\tret = 0;", "if (!ret)", "\tret = g();", "h();", "return ret;"]
        self.check(lines, ["int ret = f();", "if (!ret)", "ret = g();", "h();", "return ret;"])

    def test_the_same_question_is_asked_once(self) -> None:
        lines = ["int ret = f();", "", "if (ret)", "\ta();", "if (ret)", "\treturn ret;", "b();", "return c();"]
        self.check(lines, ["int ret = f();", "if (ret) {", "a();", "return ret;", "}", "b();", "return c();"])

    def test_the_same_question_is_asked_again_when_the_answer_may_differ(self) -> None:
        lines = ["int ret = f();", "", "if (ret)", "\tret = a();", "if (ret)", "\treturn ret;", "b();", "return c();"]
        self.check(lines, [line.strip() for line in lines if line])

    def test_what_nobody_sets_is_a_constant(self) -> None:
        lines = ["int ret = a();", "", "if (options->rate)", "\tret = b();", "c();", "c();", "return ret;"]
        self.check(lines, ["int ret = a();", "c();", "c();", "return ret;"])

    def test_a_sum_of_constants_keeps_its_parentheses(self) -> None:
        lines = ["uint32_t n = a();", "", "if (n == (64 + 3) / 4)", "\tb();", "return (f() + 1) * 2;"]
        self.check(lines, [line.strip() for line in lines if line])

    def test_a_constant_that_is_counted_with_in_64_bits_keeps_its_cast(self) -> None:
        lines = ["a((uint32_t)64);", "return f((uint64_t)64 << 32);"]
        self.check(lines, ["a(64);", "return f((uint64_t)64 << 32);"])

    def test_a_time_that_never_comes_is_before_no_other(self) -> None:
        lines = ["uint64_t due_ns = f();", "", "if (UINT64_MAX < due_ns)", "\ta();", "b(due_ns);", "c(due_ns);", "return 0;"]
        self.check(lines, ["uint64_t due_ns = f();", "b(due_ns);", "c(due_ns);", "return 0;"])

    def test_a_function_that_returns_a_variable_is_that_variable(self) -> None:
        types = OPTIONS + "static int fd = -1;\n\nint stop_fd(void)\n{\n\treturn fd;\n}\n\n"
        self.check(["a(stop_fd());", "fd = g();", "return f(stop_fd());"], ["a(fd);", "fd = g();", "return f(fd);"], types)

    def test_what_is_set_from_without_is_not(self) -> None:
        lines = ["if (options->size)", "\ta();", "return b();"]
        self.check(lines, [line.strip() for line in lines])

    def test_an_address_taken_may_set_it(self) -> None:
        lines = ["g(&options->rate);", "if (options->rate)", "\ta();", "return b();"]
        self.check(lines, [line.strip() for line in lines])

    def test_a_call_in_a_condition_stays(self) -> None:
        lines = ["if (f() && options->rate)", "\ta();", "return b();"]
        left = simplified(OPTIONS + "int run(struct options *options)\n{\n\t" + "\n\t".join(lines) + "\n}\n\n" + MAIN)
        self.assertIn("f()", left["run"])

    def test_else_is_taken_instead(self) -> None:
        self.check(["if (options->rate)", "\ta();", "else", "\tb();", "return c();"], ["b();", "return c();"])

    def test_a_loop_forgets_what_it_changes(self) -> None:
        lines = ["int i = 0;", "", "while (f()) {", "if (i)", "\ta();", "i++;", "}", "return i;"]
        text = "int run(struct options *options)\n{\n\t" + "\n\t".join(lines) + "\n}\n\n"
        self.assertIn("if (i)", simplified(OPTIONS + text + MAIN)["run"])

    def test_a_label_forgets_everything(self) -> None:
        lines = ["int ret = 0;", "", "if (f())", "\tgoto out;", "ret = g();", "out:", "if (ret)", "\ta();", "return ret;"]
        text = "int run(struct options *options)\n{\n\t" + "\n\t".join(lines) + "\n}\n\n"
        self.assertIn("if (ret)", simplified(OPTIONS + text + MAIN)["run"])

    def test_what_is_allocated_begins_as_zeros(self) -> None:
        types = OPTIONS + "struct state {\n\tbool stopping;\n\tstruct options *options;\n};\n\n"
        types += "struct holder {\n\tstruct state *state;\n};\n\n"
        text = (
            "int run(struct holder *holder)\n{\n\tholder->state = calloc(1, sizeof(*holder->state));\n"
            "\twhile (!holder->state->stopping) {\n\t\tif (f())\n\t\t\tholder->state->stopping = true;\n\t}\n"
            "\treturn g();\n}\n\n"
            "int main(void)\n{\n\tstruct holder holder;\n\n\treturn run(&holder) + run(&holder);\n}\n"
        )
        left = simplified(types + text)["run"]
        self.assertIn("while (!holder->state->stopping) {", left)
        self.assertIn("holder->state->stopping = true;", left)

    def test_a_member_that_is_a_struct_is_no_constant_but_its_own_members_are(self) -> None:
        types = "struct inner {\n\tuint64_t due;\n\tbool heard;\n\tbool never;\n};\n\n"
        types += "struct options {\n\tstruct inner inner;\n\tuint64_t size;\n};\n\n"
        lines = ["options->inner.heard = f();", "options->inner.due += 1;", "if (options->inner.heard)", "\ta();",
                 "if (options->inner.never)", "\tb();", "return g(options->inner.due);"]  # fmt: skip
        self.check(lines, [line.strip() for line in lines[:4] + lines[6:]], types)

    def test_a_struct_within_another_begins_as_its_initializer_says(self) -> None:
        types = "struct inner {\n\tbool set;\n\tbool not_set;\n};\n\n"
        types += "struct options {\n\tstruct inner inner;\n\tuint64_t size;\n};\n\n"
        lines = ["if (options->inner.set)", "\ta();", "if (options->inner.not_set)", "\tb();", "return c();"]
        main = (
            "int main(void)\n{\n\tstruct options options = { .inner = { .set = f() } };\n\n"
            "\toptions.size = 1;\n\treturn run(&options) + run(&options);\n}\n"
        )
        self.check(lines, ["if (options->inner.set)", "a();", "return c();"], types, main)

    def test_what_is_copied_from_anywhere_is_not_known(self) -> None:
        lines = ["memcpy(options, text, sizeof(*options));", "if (options->rate)", "\ta();", "return b();"]
        self.check(lines, [line.strip() for line in lines])

    def test_an_or_without_the_side_that_is_false_keeps_the_other(self) -> None:
        lines = ["if (options->size || options->rate)", "\ta();", "return b(options->size || options->rate);"]
        left = ["if (options->size)", "a();", "return b(options->size || 0);"]
        self.check(lines, left)

    def test_no_more_than_an_unsigned_difference(self) -> None:
        lines = ["if (options->rate > options->size - 1)", "\ta();", "c();", "return b();"]
        self.check(lines, ["c();", "return b();"])

    def test_a_literal_loses_what_nobody_reads_but_no_call(self) -> None:
        lines = ["*options = (struct options){ .size = 1, .rate = 2 };", "a();", "return b();"]
        self.check(lines, ["*options = (struct options){ 0 };", "a();", "return b();"])
        lines[0] = "*options = (struct options){ .size = f(), .rate = 2 };"
        self.check(lines, ["*options = (struct options){ .size = f() };", "a();", "return b();"])

    def test_declarations_stand_in_an_order_that_compiles(self) -> None:
        lines = ["int ret;", "struct wr *bad;", "struct wr **to = &bad;", "", "ret = f(to);", "g(ret);", "return ret;"]
        self.check(lines, ["struct wr *bad;", "struct wr **to = &bad;", "int ret;"] + lines[4:])

    def test_an_argument_that_is_printed_keeps_its_type(self) -> None:
        lines = ['printf("%" PRIu64, options->rate);', "a();", "return b();"]
        self.check(lines, lines)


class Functions(unittest.TestCase):
    def test_a_parameter_that_is_always_the_same(self) -> None:
        text = (
            "int f(int a, int b)\n{\n\tif (b)\n\t\tg(a);\n\tg(a);\n\treturn h(a);\n}\n\n"
            "int main(int argc, char **argv)\n{\n\tx(argv);\n\treturn f(argc, 0) + f(argc + 1, 0);\n}\n"
        )
        left = simplified(text)
        self.assertEqual(left["f"].split("\n")[0], "int f(int a)")
        self.assertIn("return f(argc) + f(argc + 1);", left["main"])

    def test_a_function_whose_address_is_taken_keeps_its_parameters(self) -> None:
        text = (
            "int f(int a)\n{\n\tg();\n\treturn h();\n}\n\n"
            "int main(void)\n{\n\tregister_it(f);\n\treturn f(1);\n}\n"
        )
        self.assertEqual(simplified(text)["f"].split("\n")[0], "int f(int a)")

    def test_one_that_does_nothing_is_not_called(self) -> None:
        text = "void f(int a)\n{\n}\n\nint main(int argc, char **argv)\n{\n\tf(argc);\n\treturn g(argv);\n}\n"
        left = simplified(text)
        self.assertEqual((list(left), body(left["main"])), (["main"], ["return g(argv);"]))

    def test_its_arguments_are_evaluated_all_the_same(self) -> None:
        text = "void f(int a)\n{\n}\n\nint main(int argc, char **argv)\n{\n\tf(g());\n\treturn h(argv);\n}\n"
        self.assertIn("g()", simplified(text)["main"])

    def test_one_that_is_called_once_is_put_in_with_its_exits(self) -> None:
        text = (
            "int f(int a)\n{\n\tint ret;\n\n\tret = g(a);\n\tif (ret)\n\t\treturn our_report(ret);\n\th(a);\n\treturn 0;\n}\n\n"
            "int main(int argc, char **argv)\n{\n\tint ret;\n\n\tret = f(argc);\n\tif (ret)\n\t\tgoto out;\n"
            "\tx();\n\nout:\n\ty(argv);\n\treturn ret;\n}\n"
        )
        left = simplified(text)
        self.assertEqual(list(left), ["main"])
        self.assertIn("ret = our_report(ret);", body(left["main"]))
        self.assertLess(body(left["main"]).index("goto out;"), body(left["main"]).index("h(argc);"))

    def test_not_if_it_may_return_early_without_an_error(self) -> None:
        text = (
            "int f(int a)\n{\n\tif (a)\n\t\treturn 0;\n\tg(a);\n\tg(a);\n\treturn h();\n}\n\n"
            "int main(int argc, char **argv)\n{\n\tint ret;\n\n\tret = f(argc);\n\tif (ret)\n\t\tgoto out;\n"
            "\tx();\n\nout:\n\ty(argv);\n\treturn ret;\n}\n"
        )
        self.assertEqual(sorted(simplified(text)), ["f", "main"])


class Events(unittest.TestCase):
    def test_a_case_that_cannot_be_goes(self) -> None:
        text = (
            "int main(void)\n{\n\tswitch (event->type) {\n\tcase RDMA_CM_EVENT_A:\n\t\treturn f();\n"
            "\tcase RDMA_CM_EVENT_B:\n\t\treturn g();\n\tdefault:\n\t\treturn h();\n\t}\n}\n"
        )
        main = simplified(text, {"type": {"RDMA_CM_EVENT_B"}})["main"]
        self.assertNotIn("g()", main)
        self.assertIn("f()", main)


if __name__ == "__main__":
    unittest.main()
