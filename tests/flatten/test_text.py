# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""Place: tests of how tools/flatten changes the text between functions: comments, structs, defines, headers, and which
parts are taken."""

from __future__ import annotations

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from tools.flatten import comments, headers, layout, options, source, structs  # noqa: E402
from tools.flatten.program import SMALL  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent.parent


class Comments(unittest.TestCase):
    def test_no_word_of_other_files(self) -> None:
        self.assertEqual(comments.unreferred("ours, for waiting: see stage.h"), "ours, for waiting")
        self.assertEqual(comments.unreferred("/* both ends: see our_learn */"), "/* both ends */")
        self.assertEqual(comments.unreferred("after 16 s (docs/drivers.md), and more"), "after 16 s, and more")

    def test_man_pages_stay(self) -> None:
        self.assertEqual(comments.unreferred("a reason: see rdma_get_cm_event(3)"), "a reason: see rdma_get_cm_event(3)")


    def test_a_long_one_is_cut_where_it_still_says_something(self) -> None:
        text = "/* Gives back what an agent was let in with, once it has been torn down, and frees it; `error` is how it\n * ended. */"
        self.assertEqual(comments.of_item(text), "/* Gives back what an agent was let in with, once it has been torn down, and frees it. */")


class Structs(unittest.TestCase):
    def test_comments_stand_in_one_column(self) -> None:
        text = "struct one {\n\tint a;      /* first */\n\tuint64_t\n\t\tlonger; /* second */\n};"
        self.assertEqual(
            structs.aligned(text), "struct one {\n\tint a;           /* first */\n\tuint64_t longer; /* second */\n};"
        )

    def test_only_the_last_enumerators_go(self) -> None:
        items = [source.item_of("enum kind {\n\tONE,\n\tTWO,\n\tTHREE,\n};", "", "x.c"),
                 source.item_of("int main(void)\n{\n\treturn TWO;\n}", "", "x.c")]  # fmt: skip
        found = [item for item in items if item]
        structs.drop_enumerators(found)
        self.assertEqual(found[0].text, "enum kind {\n\tONE,\n\tTWO,\n};")


class Defines(unittest.TestCase):
    def test_values_and_comments_stand_in_columns(self) -> None:
        text = "#define A    1  /* one */\n#define LONGER 22 /* two */\n\nx"
        self.assertEqual(layout.aligned_defines(text), "#define A      1  /* one */\n#define LONGER 22 /* two */\n\nx")


class Headers(unittest.TestCase):
    def test_one_is_wanted_for_its_words_alone(self) -> None:
        self.assertTrue(headers.is_wanted("poll.h", {"main", "pollfd"}))
        self.assertFalse(headers.is_wanted("poll.h", {"main", "poll_cq"}))


class Usage(unittest.TestCase):
    def test_a_number_is_read_within_its_limits(self) -> None:
        option = options.Option("s", "BYTES", "of a message", "OUR_BYTES(data_size, 1, OUR_MAX_SIZE)")
        self.assertIn("ret = take_number(optarg, 1, OUR_MAX_SIZE, &options->data_size);", options.case(option))


class Small(unittest.TestCase):
    def test_each_small_file_stands_for_a_file_that_there_is(self) -> None:
        found = sorted((ROOT / SMALL).rglob("*.[ch]"))
        self.assertTrue(found)
        for path in found:
            self.assertTrue((ROOT / path.relative_to(ROOT / SMALL)).exists(), path)


if __name__ == "__main__":
    unittest.main()
