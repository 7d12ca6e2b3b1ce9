/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the fake's tests: runs of a program that rows of a table describe. See lines.h.
 */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "common/clock.h"
#include "program/stage.h"
#include "tests/fake/expect.h"

bool fake_believes(void)
{
	return !our_stage.connect_info;
}

bool line_is_for(unsigned int who, const struct test *test)
{
	unsigned int is = (test->server ? SERVER : CLIENT) | (test->one_sided ? RDMA
							      : test->blast   ? BLAST
									      : PING);

	bool reads = test->one_sided && !test->spins && !test->only_writes && !test->pushes &&
		     !(test->talks && test->server);
	bool reached = test->one_sided && !test->spins && !test->talks &&
		       (test->pushes ? !test->server : test->server);

	is |= fake_believes() ? BELIEVING : REFUSING;
	is |= test->watches ? WATCHING : BLIND;
	is |= test->synchronous ? SYNCHRONOUS : 0;
	is |= test->sleeps ? SLEEPING : 0;
	is |= test->looks ? LOOKING : 0;
	is |= test->alone ? ALONE : THREADED;
	is |= test->bare ? 0 : MANAGED;
	is |= test->spins ? SPINNING : 0;
	is |= reads ? READING : 0;
	is |= reached ? REACHED : ASKING;
	is |= test->pooled ? POOLED : OWN_RECEIVES;
	is |= test->counts || test->talks || (test->publishes && test->server) ? 0 : SIZED;
	is |= test->talks ? TALKING : COUNTED;
	is |= test->pushes && test->server ? 0 : QUIET;
	is |= test->publishes ? RECORDS : 0;
	is |= test->publishes || test->talks ? 0 : MEASURED;
	is |= is & PING || (reads && !test->publishes && !test->talks) ? ANSWERED : 0;
	is |= test->pushes ? WRITTEN : 0;
	is |= test->counts ? COUNTING : 0;
	is |= test->only_writes ? STREAMING : 0;
	return is & who & (CLIENT | SERVER) && is & who & (PING | BLAST | RDMA) &&
	       !(who & ~is & ~(unsigned int)EVERY);
}

/* Rows of figures say nothing of other lines. */
static bool said_it(const struct run *run, const struct line *line, bool measured)
{
	const char *end = strchr(run->errors, '\n');

	if (!line->said)
		return !*run->errors;
	if (!line->more && !measured && (!end || end[1]))
		return false;
	return strstr(run->errors, line->said);
}

/* Text that is expected on stderr, in quotes. */
static const char *said(const char *text)
{
	static char quoted[256];

	if (!text)
		return "nothing";
	snprintf(quoted, sizeof(quoted), "'%.250s'", text);
	return quoted;
}

/*
 * How many peers have to get everything: all of them, if nothing is said and the program is not told to
 * stop.
 */
static unsigned int peers_due(const struct line *line, const struct run *run)
{
	const struct fake_config *config = &line->config;

	if (line->done)
		return line->done == NONE ? 0 : line->done;
	if (line->said || line->status || run->report->stopped)
		return run->report->done;
	if (!run->report->serves)
		return 1;
	return config->enough ? config->enough : config->clients ? config->clients : 1;
}

/* Judges whether what the row is about has happened, and its result. NULL: nothing is wrong. */
static const char *judge_report(const struct run *run, const struct line *line)
{
	const struct fake_report *report = run->report;
	const char *last = report->last[(report->calls_seen - 1) % FAKE_LAST];

	if (line->config.fault_name && !report->hit)
		return "the call that was to fail was not made";
	if ((line->config.stop_name || line->config.stops_after) && !report->stopped)
		return "it was never told to stop";
	if (report->done != peers_due(line, run))
		return "not as many peers as should be got all they wanted";
	if (line->refused && report->refused != line->refused)
		return "the client was not refused for the right reason";
	if (line->refused_first && report->refused_first != line->refused_first)
		return "the first client that was refused was not refused for the right reason";
	if (line->config.lingers && line->refused && report->refused_late)
		return "the client was refused when the other had been served";
	if (line->limit && report->refused_limit != (line->limit == NO_LIMIT ? 0 : line->limit))
		return "the client was not told the right limit";
	if (line->inlined && report->inlined != (line->inlined == NONE_INLINE ? 0 : line->inlined))
		return "not as many sends as should be were inline";
	if (line->longest && report->longest != line->longest)
		return "the longest chain of work requests has another length";
	if (line->pieces && report->pieces != line->pieces)
		return "its messages have another number of pieces";
	if (report->looks.empty_polls < line->least_looks)
		return "it did not look for as long as it should";
	if (line->never_looks && report->looks.empty_polls > 2 * report->looks.ppolls)
		return "it looked more often than twice before a sleep";
	if (line->signaled && report->signaled != line->signaled)
		return "not as many sends as should be were signaled";
	if (line->asked == NONE ? report->asked : report->asked < line->asked)
		return "not as often as should be it asked whether the peer's host is there";
	if (line->most_asked && report->asked > line->most_asked)
		return "it asked more often than it should whether the peer's host is there";
	if (line->config.period_ns && !report->periods)
		return "its record did not change at all";
	if (line->low && !report->low_events)
		return "no shared receive queue was low";
	if (line->low && report->low_unread)
		return "it never read the event of a shared receive queue that was low";
	if (line->channels && report->comp_channels != line->channels)
		return "it had another number of completion channels at a time";
	if (line->low && report->armed_early)
		return "ibv_modify_srq armed the limit while fewer receives were posted than twice the limit";
	if (line->most_calls && report->calls_seen > line->most_calls)
		return "it made far too many calls";
	if (line->most_s && report->skipped_ns > line->most_s * OUR_NS_PER_S)
		return "it slept far too long";
	if (report->skipped_ns + run->real_ns < line->least_s * OUR_NS_PER_S)
		return "it did not wait long enough";
	if (line->woken && report->woken != line->woken)
		return "it did not wait for as many alarms as it should";
	if (line->config.insists && !report->insisted)
		return "it was never told to stop again";
	if (line->last && strcmp(line->last, last))
		return "it made another call than should be its last";
	return NULL;
}

static const char *judge(const struct run *run, const struct line *line, bool measured)
{
	static char why[512];
	const char *wrong = run_judge_tidy(run);
	int status = WEXITSTATUS(run->status);
	int wanted = line->status == IF_CLIENT ? !run->report->serves : line->status;

	if (wrong)
		return wrong;
	if (status == wanted && said_it(run, line, measured) && line->printed &&
	    !strstr(run->output, line->printed)) {
		snprintf(why, sizeof(why), "it printed '%.200s', not '%s'", run->output,
			 line->printed);
		return why;
	}
	if (status == wanted && said_it(run, line, measured))
		return measured ? NULL : judge_report(run, line);
	snprintf(why, sizeof(why),
		 "exit status %d, expected %d with %s%s on stderr; it said: %.150s", status, wanted,
		 line->more ? "" : "one line with ", said(line->said), run->errors);
	return why;
}

bool test_takes(const struct test *test, const char *word)
{
	if (test->one_file && !strcmp(word, "-q"))
		return false;
	if (test->server)
		return true;
	return !(!strcmp(word, "-s") && (test->counts || test->talks)) &&
	       !(!strcmp(word, "-c") && test->talks);
}

static void add_words(const struct test *test, const struct line *line, struct words *all)
{
	static const char *const usual[LINE_WORDS] = { WORK, "-q" };
	const char *const *words = line->words[0] ? line->words : usual;
	int i;

	for (i = 0; i < LINE_WORDS && words[i]; i++) {
		if (test_takes(test, words[i]))
			words_add(all, words[i]);
		else
			i += words[i + 1] && *words[i + 1] != '-'; /* and its value */
	}
}

static void add_measured_words(const struct test *test, const struct line *line, struct words *all)
{
	int i;

	words_add(all, "-jqa");
	words_add(all, "127.0.0.1");
	if (!test->counts)
		words_add_number(all, "-s", line->config.size);
	if (!line->unlimited)
		words_add_number(all, "-c", line->config.count);
	if ((test->blast || test->only_writes) && !test->server)
		words_add_number(all, "-b", LINE_BUFFERS);
	for (i = 0; line->words[i]; i++)
		words_add(all, line->words[i]);
}

static void configure(const struct test *test, struct line *line)
{
	struct fake_config *config = &line->config;
	uint32_t size = config->size;

	config->clients = config->clients || config->nobody ? config->clients : 1;
	config->count = config->count ? config->count : LINE_MESSAGES;
	config->size = LINE_SIZE;
	config->buffers = config->buffers ? config->buffers : LINE_BUFFERS;
	test_configure(test, config);
	if (size)
		config->size = size;
	config->no_other = true;
}

static void run_line(const struct test *test, const struct line *from, bool measured)
{
	static struct run run;
	struct line line = *from;
	struct words all = { 0 };
	const char *why;

	configure(test, &line);
	words_add(&all, "program");
	(measured ? add_measured_words : add_words)(test, &line, &all);
	do {
		run_program(&run, &line.config, all.list);
		if ((test->one_file || test->example) &&
		    !(line.said && strstr(line.said, "listening on ")))
			test_drop_greeting(&run);
		why = judge(&run, &line, measured);
		if (!why && measured)
			why = compare(&line, test, &run);
	} while (why && run_once_more(&run));
	test_result(test, line.what, why);
}

static void run_all(const struct test *test, const struct line *lines, bool measured)
{
	for (; lines->what; lines++) {
		if (line_is_for(lines->who, test) &&
		    !((test->counts || test->bare) && lines->config.iwarp))
			run_line(test, lines, measured);
	}
}

void run_lines(const struct test *test, const struct line *lines)
{
	run_all(test, lines, false);
}

void run_measured(const struct test *test, const struct line *lines)
{
	run_all(test, lines, true);
}
