/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * talk-rdma-0: what the other side has said, on stdout. See talk.h.
 */
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>
#include <wctype.h>

#include "beyond/talk-rdma-0/talk.h"
#include "program/report.h"

/* Without that locale, no character beyond ASCII can be printed. */
static locale_t utf8(void)
{
	static locale_t locale;

	if (!locale)
		locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", NULL);
	return locale ? locale : LC_GLOBAL_LOCALE;
}

/* Each byte of a character that cannot be printed, and each that is no UTF-8, in hexadecimal. */
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
