/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the fake's tests: private data of peers of other versions, cut short, or random; and the
 * bytes of a refusal. Contract: the program does with each what docs/protocol.md requires. Only these rows
 * send what a client of this suite does not.
 */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "program/stage.h"
#include "tests/fake/lines.h"

#define CLIENT_SAYS(hex_, iwarp_) .config = { .extension = (hex_), .iwarp = (iwarp_) }
#define NO_SENSE                                                   \
	.who = SERVER | TWO_SIDED | RDMA | REFUSING, .refused = 1, \
	.said = "client refused: its private data (", .words = { ADDRESS, "-q" }
#define SERVED .who = SERVER | TWO_SIDED | RDMA | REFUSING, .words = { ADDRESS, "-q" }
#define SERVER_SAYS(hex_, iwarp_)                    \
	.who = CLIENT | TWO_SIDED | RDMA | REFUSING, \
	.config = { .refusal = (hex_), .iwarp = (iwarp_) }

const struct line private_data[] = {
	{ .what = "serves a client of a higher version, padded",
	  CLIENT_SAYS("4f555231 0002 0028 0000000000000001", false),
	  SERVED },
	{ .what = "serves a client of a higher version",
	  CLIENT_SAYS("4f555231 0002 0028 0000000000000001", true),
	  SERVED },
	{ .what = "serves a client of the highest version",
	  CLIENT_SAYS("4f555231 ffff 0020", true),
	  SERVED },
	{ .what = "refuses a client with another magic",
	  CLIENT_SAYS("4f555232 0001 0020", false),
	  NO_SENSE },
	{ .what = "refuses a client with the magic turned round",
	  CLIENT_SAYS("3152554f 0001 0020", true),
	  NO_SENSE },
	{ .what = "refuses a client of version 0",
	  CLIENT_SAYS("4f555231 0000 0020", true),
	  NO_SENSE },
	{ .what = "refuses a client of version 1 that says more",
	  CLIENT_SAYS("4f555231 0001 0028 0000000000000001", true),
	  NO_SENSE },
	{ .what = "refuses a client that says more than its length",
	  CLIENT_SAYS("4f555231 0001 0020 0000000000000001", false),
	  NO_SENSE },
	{ .what = "refuses a client of a higher version that says less than its length",
	  CLIENT_SAYS("4f555231 0002 0028", true),
	  NO_SENSE },
	{ .what = "refuses a client of a higher version that says less than version 1",
	  CLIENT_SAYS("4f555231 0002 001f", true),
	  NO_SENSE },
	{ .what = "tells a client the most messages it may send",
	  .who = SERVER | TWO_SIDED | RDMA | REFUSING | COUNTED,
	  .said = "client refused",
	  .refused = 2,
	  .limit = 19,
	  .words = { ADDRESS, "-q", "--max-count", "19" } },
	{ .what = "tells a client the longest message it may send",
	  .who = SERVER | TWO_SIDED | RDMA | REFUSING | SIZED,
	  .config = { .iwarp = true },
	  .said = "client refused",
	  .refused = 3,
	  .limit = 199,
	  .words = { ADDRESS, "-q", "--max-size", "199" } },
	{ .what = "tells a client the most buffers it may have",
	  .who = SERVER | BLAST,
	  .said = "client refused",
	  .refused = 4,
	  .limit = 7,
	  .words = { ADDRESS, "-q", "--max-buffers", "7" } },
	{ .what = "says with what limit it was refused, in padded data",
	  SERVER_SAYS("4f555231 0001 0003 0000000000000100", false),
	  .said = "refused us: it takes messages of 1 to 256 bytes (-s)",
	  .status = 1 },
	{ .what = "says with what limit it was refused",
	  SERVER_SAYS("4f555231 0001 0002 00000000000003e8", true),
	  .said = "refused us: it takes 1 to 1000 messages (-c)",
	  .status = 1 },
	{ .what = "says that it was refused for a reason that is not known yet",
	  SERVER_SAYS("4f555231 0001 00ff 0000000000000000", true),
	  .said = "refused us: for a reason unknown here (255)",
	  .status = 1 },
	{ .what = "believes no reason of another version",
	  SERVER_SAYS("4f555231 0002 0003 0000000000000100", true),
	  .said = "refused us: it gave no reason",
	  .status = 1 },
	{ .what = "believes no reason with another magic",
	  SERVER_SAYS("4f555232 0001 0003 0000000000000100", false),
	  .said = "refused us: it gave no reason",
	  .status = 1 },
	{ .what = "believes no reason that is cut short",
	  SERVER_SAYS("4f555231 0001 0003 00000000000001", true),
	  .said = "refused us: it gave no reason",
	  .status = 1 },
	{ .what = "is refused by who has no private data",
	  SERVER_SAYS("", true),
	  .said = "refused us: it gave no reason",
	  .status = 1 },
	{ .what = "does not mind what a server says when it accepts",
	  .who = CLIENT | TWO_SIDED | RDMA,
	  .config = { .accept_data = 196 } },
	{ .what = "does not mind what a server says when it accepts",
	  .who = CLIENT | TWO_SIDED | RDMA,
	  .config = { .accept_data = 1, .iwarp = true } },
	{ 0 },
};

/* ---- the first part of a client's 32 bytes ---- */

#define COUNT_END   8 /* the position of its last byte, the only one that is not 0 */
#define SIZE_END    16
#define BUFFERS_END 24
#define WHOLE       32

/*
 * The reason of the refusal; 0: the client is served. On RoCE the missing bytes are zeros, because
 * it pads. On iWARP they are missing.
 */
static unsigned int reason_for(unsigned int length, bool iwarp, const struct test *test)
{
	/* The number 10^12 needs four bytes or more; the last byte of 256 is 0. */
	unsigned int count_end = test->talks ? 4 : COUNT_END;
	unsigned int size_end = test->talks ? 15 : SIZE_END;

	if (length == WHOLE)
		return 0;
	if (length > BUFFERS_END)
		return 1; /* half of the extension */
	if (length < SIZE_END && iwarp)
		return 1;
	if (length < count_end)
		return 2;
	if (length < size_end)
		return 3;
	return length < BUFFERS_END && test->blast ? 4 : 0;
}

static const char *judge_length(const struct run *run, unsigned int length, unsigned int reason)
{
	static char why[2 * RUN_TEXT];
	const char *wrong = run_judge_tidy(run);
	int status = WEXITSTATUS(run->status);

	if (!wrong && run->report->refused != reason)
		wrong = "not refused for the reason that docs/protocol.md has";
	if (!wrong && (status || run->report->done != !reason))
		wrong = "not the exit status, or not served";
	if (!wrong)
		return NULL;
	snprintf(why, sizeof(why), "%u bytes: reason %u, not %u, exit status %d: %s", length,
		 run->report->refused, reason, status, wrong);
	return why;
}

static void try_lengths(const struct test *test, bool iwarp)
{
	static struct run run;
	struct fake_config config = { .clients = 1,
				      .no_other = true,
				      .count = LINE_MESSAGES,
				      .size = LINE_SIZE,
				      .buffers = LINE_BUFFERS,
				      .hurried = true,
				      .iwarp = iwarp,
				      .cut_short = true };
	struct words words = { 0 };
	const char *why = NULL;

	test_configure(test, &config);
	words_add(&words, "program");
	words_add(&words, "-qa");
	words_add(&words, "127.0.0.1");
	for (; !why && config.cut_at <= WHOLE; config.cut_at++) {
		do {
			run_program(&run, &config, words.list);
			why = judge_length(&run, config.cut_at,
					   reason_for(config.cut_at, iwarp, test));
		} while (why && run_once_more(&run));
	}
	test_result(test,
		    iwarp ? "takes a client's private data at each length"
			  : "takes a client's private data at each length, padded",
		    why);
}

void test_lengths(const struct test *test)
{
	if (!test->server || fake_believes())
		return;
	try_lengths(test, false);
	if (!test->counts)
		try_lengths(test, true);
}
