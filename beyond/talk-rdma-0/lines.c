/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * talk-rdma-0: lines from stdin, and what the other side has said, on stdout. See talk.h. A line that is
 * too long for a slot becomes several.
 */
#include <errno.h>
#include <locale.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>
#include <wctype.h>

#include "beyond/talk-rdma-0/talk.h"
#include "program/report.h"

/*
 * The text that was read from stdin and not sent yet. It belongs to the process: what is left when
 * a client leaves is for the next one. Only the thread that talks uses it; there is one at a time.
 */
static struct {
	uint8_t text[OUR_SLOT_TEXT + 1]; /* room for a line and its line feed */
	uint32_t n;                      /* bytes in `text` */
} typed;

static int take_out(uint32_t length, uint32_t with_end, uint8_t *text)
{
	memcpy(text, typed.text, length);
	typed.n -= with_end;
	memmove(typed.text, typed.text + with_end, typed.n);
	return (int)length;
}

static int take_line(const struct our_talk *talk, uint8_t *text)
{
	const uint8_t *end = memchr(typed.text, '\n', typed.n);
	uint32_t length = end ? (uint32_t)(end - typed.text) : typed.n;

	if (end)
		return take_out(length, length + 1, text);
	if (length > OUR_SLOT_TEXT)
		return take_out(OUR_SLOT_TEXT, OUR_SLOT_TEXT, text);
	if (talk->at_end && length)
		return take_out(length, length, text);
	return -1;
}

int our_take_typed(struct our_talk *talk, int limit_ms, uint8_t *text)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	int length = take_line(talk, text);
	ssize_t got;

	if (length >= 0 || talk->at_end || poll(&input, 1, limit_ms) <= 0)
		return length;
	got = read(STDIN_FILENO, typed.text + typed.n, sizeof(typed.text) - typed.n);
	if (got > 0)
		typed.n += (uint32_t)got;
	talk->at_end = got <= 0;
	return take_line(talk, text);
}

/* Returns a UTF-8 locale, if there is one; without it, only ASCII can be printed. */
static locale_t utf8(void)
{
	static locale_t locale;

	if (!locale)
		locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", NULL);
	return locale ? locale : LC_GLOBAL_LOCALE;
}

/* Prints in hexadecimal each byte of an unprintable character, and each that is no UTF-8. */
static void print_what_is_printable(const uint8_t *text, size_t length)
{
	mbstate_t state = { 0 };
	wchar_t character;
	size_t n;

	for (; length; text += n, length -= n) {
		n = mbrtowc(&character, (const char *)text, length, &state);
		if (n && n <= length && (character == L'\t' || iswprint((wint_t)character))) {
			fwrite(text, 1, n, stdout);
			continue;
		}
		memset(&state, 0, sizeof(state));
		n = 1;
		printf("\\x%02x", *text);
	}
}

int our_show_line(const uint8_t *text, size_t length)
{
	locale_t before;

	if (isatty(STDOUT_FILENO)) {
		before = uselocale(utf8());
		print_what_is_printable(text, length);
		uselocale(before);
	} else {
		fwrite(text, 1, length, stdout);
	}
	if (putchar('\n') == EOF || fflush(stdout))
		return our_report_error("stdout", errno, NULL);
	return 0;
}
