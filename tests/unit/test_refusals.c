/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: unit tests of program/options.h: command lines that are refused. Each must be reported as
 * wrong usage, on stderr, in a sentence that names the error.
 */
#include <errno.h>
#include <string.h>

#include "tests/unit/command_line.h"
#include "tests/unit/unit.h"

#define CLIENT "-a", "127.0.0.1"

static const struct {
	const struct our_program *program;
	const char *words[MAX_WORDS];
	const char *named; /* a part of the sentence */
} refused[] = {
	/* something is missing */
	{ &test_client, { NULL }, "-a" },
	{ &test_client, { "-c", "5" }, "-a" },
	{ &test_client, { "-a", "" }, "-a" },
	/* unknown options, or those of another program */
	{ &test_client, { CLIENT, "-Z" }, "-Z" },
	{ &test_client, { CLIENT, "-qZ" }, "-Z" },
	{ &test_client, { CLIENT, "--no-such-option" }, "--no-such-option" },
	{ &test_client, { CLIENT, "--no-such-option=5" }, "--no-such-option" },
	{ &test_client, { CLIENT, "-n", "1" }, "unknown option or wrong use of it: -n; see" },
	{ &test_client, { CLIENT, "--clients", "1" }, "--clients" },
	{ &test_client, { CLIENT, "--max-bytes=1" }, "--max-bytes" },
	{ &test_server, { "-v" }, "-v" },
	{ &test_server, { "-c", "1" }, "-c" },
	{ &test_server, { "--wait=1" }, "--wait" },
	{ &test_server, { "--max", "1" }, "--max" }, /* is it a number of messages, or of bytes? */
	{ &test_client, { CLIENT, "--t" }, "--t" },
	/* one value missing, one too many */
	{ &test_client, { "-a" }, "-a" },
	{ &test_client, { CLIENT, "-c" }, "missing value after -c; see --help\n" },
	{ &test_client, { CLIENT, "--count" }, "missing value after --count; see --help\n" },
	{ &test_client, { CLIENT, "--size" }, "--size" },
	{ &test_client, { CLIENT, "--timeout" }, "--timeout" },
	{ &test_client, { CLIENT, "--verify=yes" }, "wrong use of it: --verify=yes; see" },
	{ &test_client, { CLIENT, "stray" }, "no argument belongs here: stray; see --help\n" },
	{ &test_client, { "more", CLIENT, "stray" }, "no argument belongs here: more; see" },
	{ &test_client, { CLIENT, "--", "-v" }, "no argument belongs here: -v; see --help\n" },
	{ &test_server, { "192.0.2.1" }, "192.0.2.1" },
	/* numbers */
	{ &test_client, { CLIENT, "-s", "0" }, "-s" },
	{ &test_client, { CLIENT, "-s", "0k" }, "-s" },
	{ &test_client, { CLIENT, "--size=0" }, "-s" },
	{ &test_client, { CLIENT, "-s", "3g" }, "-s" },
	{ &test_client, { CLIENT, "-s", "2147483649" }, "-s" },
	{ &test_client, { CLIENT, "-s", "17179869185g" }, "-s" },
	{ &test_client, { CLIENT, "-s", "-1" }, "-s" },
	{ &test_client, { CLIENT, "-s", "64b" }, "-s" },
	{ &test_client, { CLIENT, "-s", "64kk" }, "-s" },
	{ &test_client, { CLIENT, "-s", "" }, "-s" },
	{ &test_client, { CLIENT, "-c", "0" }, "-c takes a number from 1 to " },
	{ &test_client, { CLIENT, "-c", "1k" }, "-c" }, /* suffixes are only for sizes */
	{ &test_client, { CLIENT, "-c", "12junk" }, "-c" },
	{ &test_client, { CLIENT, "-c", "1000000000000" }, "-c" },
	{ &test_client, { CLIENT, "-c", "18446744073709551617" }, "-c" },
	{ &test_client, { CLIENT, "-D", "0" }, "-D" },
	{ &test_client, { CLIENT, "-D", "1.5" }, "-D" },
	{ &test_client, { CLIENT, "-D", "4294967296" }, "-D" },
	{ &test_client, { CLIENT, "-w", "soon" }, "-w" },
	{ &test_client, { CLIENT, "-p", "0" }, "-p" },
	{ &test_client, { CLIENT, "-p", "65536" }, "-p takes a number from 1 to 65535, not" },
	{ &test_client, { CLIENT, "-p", "70000" }, "-p" },
	{ &test_client, { CLIENT, "-p", "http" }, "-p" },
	{ &test_client, { CLIENT, "-p", "1x" }, "-p" },
	{ &test_client,
	  { CLIENT, "--timeout=2147484" },
	  "--timeout" }, /* as ms: too many for an int */
	{ &test_server, { "--timeout=2147484" }, "--timeout" },
	{ &test_client, { CLIENT, "--rate=0" }, "--rate" },
	{ &test_client, { CLIENT, "--rate=1000000001" }, "--rate" },
	{ &test_server, { "-n", "-1" }, "-n" },
	{ &test_server, { "-n", "4294967296" }, "-n" },
	{ &test_server, { "--max-number", "0" }, "--max-number" },
	{ &test_server, { "--max-bytes", "0" }, "--max-bytes" },
	{ &test_server, { "--max-bytes", "3g" }, "--max-bytes" },
};

UNIT_TESTS(refuses, UNIT_LENGTH(refused))
{
	const char *text = words_text(refused[_i].words), *said;
	struct our_options options;
	int ret = process_words(refused[_i].program, refused[_i].words, &options);

	said = captured_stderr();
	ck_assert_msg(ret == EINVAL, "'%s': %d, not EINVAL", text, ret);
	ck_assert_msg(strstr(said, refused[_i].named), "'%s': no '%s' in '%s'", text,
		      refused[_i].named, said);
	ck_assert_msg(strchr(said, '\n') == said + strlen(said) - 1, "'%s': not one line, but '%s'",
		      text, said);
	assert_holds(said, refused[_i].program->name);
	ck_assert_str_eq(captured_stdout(), "");
}

/* A name that cannot exist: each label (the text between two dots) is at most 63 bytes long. */
static const char impossible[] =
	"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.invalid";

UNIT_TEST(reports_a_name_that_is_none)
{
	const char *const words[] = { "-a", impossible, NULL };
	struct our_options options;
	int ret = process_words(&test_client, words, &options);

	ck_assert_msg(ret == EINVAL || ret == EAGAIN, "%d", ret);
	assert_holds(captured_stderr(), impossible);
}
