/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: unit tests of beyond/talk-rdma-0, lines.c and slot.c: a peer's text on a terminal, and
 * elsewhere; and which texts are taken from its memory.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "beyond/talk-rdma-0/slot.h"
#include "beyond/talk-rdma-0/talk.h"
#include "tests/unit/unit.h"

static const struct {
	const char *text;
	size_t length;
	const char *shown;
} lines[] = {
	{ "plain, with a \\ and a\ttab", 25, "plain, with a \\ and a\ttab" },
	{ "Zoë: 東京, 🙂", 18, "Zoë: 東京, 🙂" },
	{ "", 0, "" },
	{ "\033]0;title\a", 10, "\\x1b]0;title\\x07" },
	{ "a\rb\vc\x7f", 6, "a\\x0db\\x0bc\\x7f" },
	{ "a\0b", 3, "a\\x00b" },
	{ "\xc2\x9b"
	  "31m",
	  5, "\\xc2\\x9b31m" },                       /* CSI of C1, in UTF-8 */
	{ "\x9b\xff.", 3, "\\x9b\\xff." },            /* this is no UTF-8 */
	{ "\xc0\x9b.", 3, "\\xc0\\x9b." },            /* this is an overlong escape */
	{ "\xed\xa0\x80", 3, "\\xed\\xa0\\x80" },     /* half of a surrogate pair */
	{ "\xe6\x9d", 2, "\\xe6\\x9d" },              /* a character that is cut short */
	{ "\xe6\x9dZo\xc3\xab", 6, "\\xe6\\x9dZoë" }, /* a whole one after a cut one */
};

UNIT_TESTS(a_terminal_gets_what_can_be_printed,
	   unit_has_terminals("a_terminal_gets_what_can_be_printed") * UNIT_LENGTH(lines))
{
	char wanted[128], got[128];
	size_t length = 0;
	int user, program;
	ssize_t part;

	ck_assert(unit_open_terminal(&user, &program));
	fflush(stdout);
	ck_assert_int_eq(dup2(program, STDOUT_FILENO), STDOUT_FILENO);
	snprintf(wanted, sizeof(wanted), "%s\r\n", lines[_i].shown); /* a terminal adds the CR */
	ck_assert_int_eq(our_show_line((const uint8_t *)lines[_i].text, lines[_i].length), 0);
	while (length < strlen(wanted)) {
		part = read(user, got + length, sizeof(got) - 1 - length);
		ck_assert_int_gt(part, 0);
		length += (size_t)part;
	}
	got[length] = '\0';
	ck_assert_str_eq(got, wanted);
}

UNIT_TESTS(a_file_gets_every_byte, UNIT_LENGTH(lines))
{
	char wanted[128] = { 0 };

	capture_start();
	memcpy(wanted, lines[_i].text, lines[_i].length);
	wanted[lines[_i].length] = '\n';
	ck_assert_int_eq(our_show_line((const uint8_t *)lines[_i].text, lines[_i].length), 0);
	ck_assert_mem_eq(captured_stdout(), wanted, lines[_i].length + 2);
}

static const struct {
	uint32_t sequence; /* the sequence of the slot is 1 */
	uint16_t length;
	uint8_t changed; /* this much was changed after the slot's mark was made */
	int taken;
} slots[] = {
	{ 1, 0, 0, 0 },
	{ 1, OUR_SLOT_TEXT, 0, OUR_SLOT_TEXT },
	{ 1, OUR_SLOT_TEXT + 1, 0, -1 }, /* the sum is right, with the first byte of the mark */
	{ 1, OUR_SLOT_TEXT, 1, -1 },
	{ 2, OUR_SLOT_TEXT, 0, -1 },
};

UNIT_TESTS(what_is_in_a_slot, UNIT_LENGTH(slots))
{
	_Alignas(8) uint8_t slot[OUR_SLOT] = { 0 };
	uint8_t text[OUR_SLOT] = { 0 };
	uint64_t mark;

	memset(slot, 'x', OUR_SLOT_TEXT);
	mark = our_make_mark(1, slot, slots[_i].length);
	memcpy(slot + OUR_SLOT_MARK, &mark, sizeof(mark));
	slot[0] += slots[_i].changed;
	text[OUR_SLOT_TEXT] = 'y';
	ck_assert_int_eq(our_look_at_slot(slot, slots[_i].sequence, text), slots[_i].taken);
	ck_assert_uint_eq(text[OUR_SLOT_TEXT], 'y');
}

/* A line feed may come later than the longest line; a byte more than fits is a line of its own. */
UNIT_TESTS(a_line_as_long_as_a_slot_is_one, 2)
{
	uint8_t text[OUR_SLOT_TEXT + 1] = { 0 };
	struct our_talk talk = { .at_end = false };
	int ends[2];

	memset(text, 'x', sizeof(text));
	ck_assert_int_eq(pipe(ends), 0);
	ck_assert_int_eq(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
	ck_assert_int_eq(write(ends[1], text, OUR_SLOT_TEXT + _i), OUR_SLOT_TEXT + _i);
	ck_assert_int_eq(our_take_typed(&talk, 0, text), _i ? OUR_SLOT_TEXT : -1);
	ck_assert_int_eq(write(ends[1], "\n", 1), 1);
	ck_assert_int_eq(our_take_typed(&talk, 0, text), _i ? 1 : OUR_SLOT_TEXT);
	ck_assert_int_eq(our_take_typed(&talk, 0, text), -1);
}
