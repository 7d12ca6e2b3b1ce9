/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the fake's tests: CM events that the program does not expect. Contract: at each call that
 * the program makes, one in each run, all its ids get such an event. RDMA_CM_EVENT_ADDR_CHANGE must
 * change nothing. RDMA_CM_EVENT_UNREACHABLE may end a connection; then the message on stderr names
 * it.
 */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "tests/fake/tests.h"

/* A run that did not notice the event, or whose only line names it. */
static const char *judge_unreachable(const struct run *run)
{
	const char *why = run_judge_end(run), *end = strchr(run->errors, '\n');
	bool failed = WEXITSTATUS(run->status);

	if (why)
		return why;
	if (!failed && *run->errors && !run->report->serves)
		return "it says something of what did no harm";
	if ((failed || *run->errors) && (!end || end[1]))
		return "it does not say why in one line";
	if (*run->errors && !run->report->example &&
	    !strstr(run->errors, "RDMA_CM_EVENT_UNREACHABLE"))
		return "the event is not named";
	return NULL;
}

static void stray_everywhere(const struct test *test, const char *what, struct fake_config config)
{
	static struct run run;
	unsigned int strays = 0, failures = 0;
	char text[1024] = "";
	const char *why;

	do {
		config.stray_call++;
		do {
			test_run(test, &config, &run);
			why = config.stray_unreachable ? judge_unreachable(&run) : run_judge(&run);
		} while (why && run_once_more(&run));
		strays += run.report->strayed;
		if (why && !failures++)
			snprintf(text, sizeof(text), "at call %u, %s: %.500s; it said: %.200s",
				 config.stray_call,
				 run.report->last[(run.report->calls_seen - 1) % FAKE_LAST], why,
				 run.errors);
	} while (run.report->calls >= config.stray_call && !run.hung);
	if (!failures && !strays)
		snprintf(text, sizeof(text), "no id ever got one");
	test_result(test, what, *text ? text : NULL);
}

void test_strays(const struct test *test)
{
	struct fake_config config = { .count = 2, .size = 200, .clients = 1 };

	stray_everywhere(test, "does not mind whenever an address changes", config);
	config.iwarp = true;
	stray_everywhere(test, "does not mind whenever an address changes, on iWARP", config);
	config.stray_unreachable = true;
	config.iwarp = false;
	stray_everywhere(test, "knows whenever a peer cannot be reached any more", config);
}
