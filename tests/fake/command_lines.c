/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the fake's tests: what a program is told on its command line. Contract: a row for each, with
 * the exit status and a part of what stderr must say; whatever it is, nothing is left behind.
 */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "common/stage.h"
#include "tests/fake/tests.h"

#define MAX_WORDS 20
#define MESSAGES  20
#define SIZE      200

/* Which programs a row is for: one of each pair. */
enum {
	CLIENT = 1,
	SERVER = 2,
	PING = 4,
	BLAST = 8,
	REFUSING = 16, /* ... only a server that may refuse clients */
};

#define ADDRESS "-a", "127.0.0.1"
#define WORK    ADDRESS, "-c", "20", "-s", "200"

static const struct line {
	const char *what;
	unsigned int who;
	unsigned int clients;
	uint64_t count; /* that the peers expect, if not MESSAGES */
	int status;
	const char *said;
	const char *words[MAX_WORDS];
} lines[] = {
	{ "traces each message",
	  CLIENT | PING | BLAST,
	  0,
	  0,
	  0,
	  "ibv_post_send",
	  { WORK, "-T", "-x", "-v", "-D", "9", "--timeout", "9" } },
	{ "traces each message",
	  SERVER | PING | BLAST,
	  1,
	  0,
	  0,
	  "ibv_post_send",
	  { WORK, "-T", "-x", "--timeout", "9" } },
	{ "sends at a rate", CLIENT | PING, 0, 0, 0, "", { WORK, "-q", "--rate", "1000" } },
	{ "ends when its time is over",
	  CLIENT | PING | BLAST,
	  0,
	  1000000000,
	  0,
	  "",
	  { ADDRESS, "-c", "1000000000", "-s", "200", "-D", "1" } },
	{ "posts short chains",
	  CLIENT | BLAST,
	  0,
	  0,
	  0,
	  "",
	  { WORK, "-q", "--chain", "3", "--signal-every", "2" } },
	{ "listens on any address",
	  SERVER | PING | BLAST,
	  2,
	  0,
	  0,
	  "listening on",
	  { "-c", "20", "-s", "200", "-n", "2", "-t" } },
	{ "is a slow receiver", SERVER | BLAST, 1, 0, 0, "", { ADDRESS, "-q", "--sleep", "1" } },
	{ "finds what is not in order", SERVER | BLAST, 1, 0, 1, "message 0", { ADDRESS, "-v" } },
	{ "refuses a count",
	  SERVER | PING | BLAST | REFUSING,
	  1,
	  0,
	  1,
	  "client refused",
	  { ADDRESS, "--max-count", "19" } },
	{ "refuses a size",
	  SERVER | PING | BLAST | REFUSING,
	  1,
	  0,
	  1,
	  "client refused",
	  { ADDRESS, "--max-size", "199" } },
	{ "refuses buffers",
	  SERVER | BLAST,
	  1,
	  0,
	  1,
	  "client refused",
	  { ADDRESS, "--max-buffers", "7" } },
	{ "has no such option", CLIENT | SERVER | PING | BLAST, 0, 0, 2, "-Z", { "-Z" } },
	{ "asks for too much",
	  CLIENT | PING | BLAST,
	  0,
	  0,
	  2,
	  "-s 2147483648 is more than",
	  { ADDRESS, "-s", "2g" } },
	{ "asks for too many buffers",
	  CLIENT | BLAST,
	  0,
	  0,
	  2,
	  "buffers (-b) are more than",
	  { WORK, "-b", "1000000" } },
	{ "asks for too many pieces",
	  CLIENT | BLAST,
	  0,
	  0,
	  2,
	  "--sge 100 is more than",
	  { WORK, "--sge", "100" } },
	{ "shows help", CLIENT | SERVER | PING | BLAST, 0, 0, 0, "", { "--help" } },
};

static bool is_for(const struct line *line, const struct test *test)
{
	return line->who & (test->server ? SERVER : CLIENT) &&
	       line->who & (test->blast ? BLAST : PING) &&
	       (!(line->who & REFUSING) || our_server_options & OUR_OPT_MAX_COUNT);
}

static void run_line(const struct test *test, const struct line *line)
{
	static struct run run;
	struct fake_config config = { .count = line->count ? line->count : MESSAGES,
				      .size = SIZE,
				      .clients = line->clients,
				      .buffers = 8,
				      .blast = test->blast };
	char storage[MAX_WORDS][32], *arguments[MAX_WORDS + 2] = { "program" }, why[256];
	const char *wrong;
	int i;

	for (i = 0; i < MAX_WORDS && line->words[i]; i++) {
		snprintf(storage[i], sizeof(storage[i]), "%s", line->words[i]);
		arguments[i + 1] = storage[i];
	}
	run_program(&run, &config, arguments);
	wrong = run_judge_tidy(&run);
	if (!wrong &&
	    (WEXITSTATUS(run.status) != line->status || !strstr(run.errors, line->said))) {
		snprintf(why, sizeof(why), "exit status %d, not %d with '%s'; it said: %.150s",
			 WEXITSTATUS(run.status), line->status, line->said, run.errors);
		wrong = why;
	}
	test_result(test, line->what, wrong);
}

void test_command_lines(const struct test *test)
{
	const struct line *line;

	for (line = lines; line < lines + sizeof(lines) / sizeof(lines[0]); line++)
		if (is_for(line, test))
			run_line(test, line);
}
