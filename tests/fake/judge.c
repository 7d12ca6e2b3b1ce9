/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the fake's tests: judges a run of the program by rules that name no program and no call.
 * See run.h.
 */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include <infiniband/verbs.h>

#include "tests/fake/run.h"

static char verdict[2 * RUN_TEXT];

static const char *bad(const struct run *run, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static const char *bad(const struct run *run, const char *format, ...)
{
	size_t used;
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(verdict, sizeof(verdict), format, arguments);
	va_end(arguments);
	used = strlen(verdict);
	snprintf(verdict + used, sizeof(verdict) - used, "; it said: %s", run->errors);
	return verdict;
}

static const char *hung(const struct run *run)
{
	const struct fake_report *report = run->report;
	char calls[FAKE_LAST * FAKE_NAME] = "";
	unsigned int i, first = report->calls_seen > FAKE_LAST ? report->calls_seen - FAKE_LAST : 0;

	for (i = first; i < report->calls_seen; i++) {
		strncat(calls, " ", sizeof(calls) - strlen(calls) - 1);
		strncat(calls, report->last[i % FAKE_LAST], sizeof(calls) - strlen(calls) - 1);
	}
	if (report->complaints)
		return bad(run, "the ledger: %s; it does not end, after%s", report->text, calls);
	return bad(run, "it does not end, after%s", calls);
}

const char *run_judge_tidy(const struct run *run)
{
	const struct fake_report *report = run->report;

	if (run->hung)
		return hung(run);
	if (strstr(run->errors, "Sanitizer") || strstr(run->errors, "runtime error"))
		return bad(run, "a sanitizer found something");
	if (strstr(run->errors, "(null)") || strstr(run->output, "(null)"))
		return bad(run, "it prints a text that is not there");
	if (strstr(run->errors, "Unknown error"))
		return bad(run, "no errno value");
	if (!WIFEXITED(run->status))
		return bad(run, "killed by signal %d", WTERMSIG(run->status));
	if (report->complaints)
		return bad(run, "the ledger: %s", report->text);
	return NULL;
}

/* The failure is one of a client or of its connection, not the server's own. */
static bool clients_doing(const struct fake_report *report)
{
	return report->serves && report->peers_doing && (report->struck || report->strayed);
}

/* It serves the others, whatever has failed with one client. */
static bool goes_on(const struct fake_report *report)
{
	return report->example && report->serves && report->struck &&
	       report->expected != FAKE_RECOVERS;
}

/* For a server of any number of clients: one of them has left, or all, with their device. */
static bool is_usual_end(const struct fake_report *report)
{
	return report->peers_doing ? !report->wc_status || report->wc_status == IBV_WC_WR_FLUSH_ERR
				   : report->expected == FAKE_FAILS_LATER && !report->wc_status;
}

/* What the peers have said is on stdout, and nothing else. */
static const char *judge_said(const struct run *run)
{
	const struct fake_report *report = run->report;

	if (report->said_length >= sizeof(report->said)) /* longer than the part that is kept */
		return NULL;
	if (run->output_length == report->said_length &&
	    !memcmp(run->output, report->said, report->said_length))
		return NULL;
	return bad(run, "%zu bytes on stdout, which are not the %zu that its peers have said",
		   run->output_length, report->said_length);
}

/* Judges what holds for every run that transfers messages. NULL: nothing is wrong so far. */
const char *run_judge_end(const struct run *run)
{
	const struct fake_report *report = run->report;
	const char *why = run_judge_tidy(run);

	if (why)
		return why;
	if (WEXITSTATUS(run->status) > 1)
		return bad(run, "exit status %d", WEXITSTATUS(run->status));
	if (!WEXITSTATUS(run->status) && !report->last_word && !report->stopped &&
	    !clients_doing(report) && !goes_on(report) && (!FAKE_ALL_DONE || !report->peers))
		return bad(run, "exit status 0, but only %u of %u peers got all they wanted",
			   report->done, report->peers);
	if (report->talks && !WEXITSTATUS(run->status) && !report->stopped &&
	    !clients_doing(report))
		return judge_said(run);
	return NULL;
}

/* The number of lines on stderr that contain `text`. */
static unsigned int lines_with(const struct run *run, const char *text)
{
	char line[1024];
	const char *from = run->errors, *end;
	unsigned int n = 0;

	for (; (end = strchr(from, '\n')); from = end + 1) {
		snprintf(line, sizeof(line), "%.*s", (int)(end - from), from);
		n += strstr(line, text) != NULL;
	}
	return n;
}

/* A call that reads an event, which may be for another id. */
static bool is_event_reader(const struct fake_report *report)
{
	return !strcmp(report->call, "rdma_get_cm_event") || !strcmp(report->call, "malloc");
}

static bool names_status(const struct run *run)
{
	const char *at;
	char text[32];

	snprintf(text, sizeof(text), "status %d", run->report->wc_status);
	at = strstr(run->errors, text);
	return at && !isdigit((unsigned char)at[strlen(text)]);
}

/*
 * rdma_verbs.h and rdma_create_ep consist of these calls: a program that uses them names them in
 * its messages.
 */
static bool is_wrapped(const char *call)
{
	static const char *const wrapped[] = {
		"ibv_post_send",     "ibv_post_recv",      "ibv_reg_mr",
		"ibv_dereg_mr",      "ibv_poll_cq",        "ibv_req_notify_cq",
		"ibv_get_cq_event",  "rdma_create_id",     "rdma_bind_addr",
		"rdma_resolve_addr", "rdma_resolve_route", "ibv_alloc_pd",
		"ibv_create_cq",     "rdma_create_qp",     "ibv_create_comp_channel",
	};
	size_t i = 0;

	while (i < sizeof(wrapped) / sizeof(wrapped[0]) && strcmp(wrapped[i], call))
		i++;
	return i < sizeof(wrapped) / sizeof(wrapped[0]);
}

/* rdma_destroy_ep and rdma_destroy_qp consist of these calls; they return nothing. */
static bool is_out_of_sight(const char *call)
{
	return !strcmp(call, "ibv_destroy_cq") || !strcmp(call, "ibv_destroy_comp_channel") ||
	       !strcmp(call, "ibv_dealloc_pd") || !strcmp(call, "rdma_destroy_id");
}

/* The number of lines that name the call, or the function that the program called instead. */
static unsigned int lines_naming(const struct run *run)
{
	static const char *const wrappers[] = {
		": rdma_post_send: ",     ": rdma_post_recv: ",     ": rdma_reg_msgs: ",
		": rdma_dereg_mr: ",      ": rdma_create_ep: ",     ": rdma_get_request: ",
		": rdma_get_send_comp: ", ": rdma_get_recv_comp: ",
	};
	const struct fake_report *report = run->report;
	char name[FAKE_NAME + 4];
	unsigned int named;
	size_t i;

	snprintf(name, sizeof(name), ": %s: ", report->call);
	named = lines_with(run, name);
	if (!named && report->one_file && is_wrapped(report->call)) {
		for (i = 0; i < sizeof(wrappers) / sizeof(wrappers[0]); i++)
			named += lines_with(run, wrappers[i]);
	}
	if (!named && report->example)
		named = lines_with(run, ": our_create_stop: ") + lines_with(run, ": poll: ");
	return named;
}

static const char *judge_fault(const struct run *run)
{
	const struct fake_report *report = run->report;
	unsigned int said = lines_with(run, ""), named;
	bool failed = WEXITSTATUS(run->status);
	enum fake_expected expected = report->expected;

	named = lines_naming(run);
	/* What a wait reports, our_get_request reports once more, with what it means. */
	if (report->example && said == 2 && lines_with(run, "nobody can connect any more"))
		said = named = 1;
	/* A failure after all work is done is treated like a failure of the tear-down. */
	if (report->hit_after && expected == FAKE_FAILS)
		expected = FAKE_TEAR_DOWN;
	if (report->hit_after && expected == FAKE_FAILS_LATER)
		expected = FAKE_RECOVERS;
	/* If an event was lost and this had no effect, it belonged to the tear-down. */
	if (is_event_reader(report) && expected == FAKE_FAILS && FAKE_ALL_DONE)
		expected = FAKE_TEAR_DOWN;
	/*
	 * An agent cannot know whether its last message has arrived. If the client leaves, it
	 * probably has arrived. (The acknowledgement may be lost, and the completion may fail,
	 * nevertheless.)
	 */
	if (report->last_word)
		expected = FAKE_RECOVERS;
	if (expected == FAKE_RECOVERS && !failed)
		return said <= 1 ? NULL : bad(run, "%u lines about what did no harm", said);
	/* The program may or may not learn that its device is gone. */
	if (failed && clients_doing(report) &&
	    !(report->one_file && !strcmp(report->fault, "device leaves")))
		return bad(run, "exit status 1 for what a client did");
	if (!failed && expected != FAKE_TEAR_DOWN && !clients_doing(report) && !goes_on(report))
		return bad(run, "exit status 0");
	/* A failure with one peer is no reason to fail the others. */
	if (expected == FAKE_FAILS_LATER && report->peers > report->done + 1 && !report->one_file)
		return bad(run, "only %u of %u peers got all they wanted", report->done,
			   report->peers);
	if ((expected == FAKE_FAILS || expected == FAKE_TEAR_DOWN) && named != 1 &&
	    !(report->one_file && is_out_of_sight(report->call)))
		return bad(run, "the call is named %u times", named);
	if (!said && !failed && report->one_file && is_out_of_sight(report->call))
		return NULL;
	/* A flush has a cause, and the message names that cause instead. */
	if (failed && report->wc_status && report->wc_status != IBV_WC_WR_FLUSH_ERR &&
	    !names_status(run))
		return bad(run, "the status of the completion is not named");
	/*
	 * One thread reads the events and another waits for them: the second one names what it
	 * waited for.
	 */
	if (!said && goes_on(report) && is_usual_end(report))
		return NULL;
	if (said != 1 && !(said == 2 && named && is_event_reader(report)))
		return bad(run, "%u lines, not one", said);
	if (!lines_with(run, report->says))
		return bad(run, "there is no '%s' in it", report->says);
	return NULL;
}

const char *run_judge(const struct run *run)
{
	const char *why = run_judge_end(run);

	if (why)
		return why;
	if (run->report->struck)
		return judge_fault(run);
	if (WEXITSTATUS(run->status) || *run->errors)
		return bad(run, "nothing was made to fail, and the exit status is %d",
			   WEXITSTATUS(run->status));
	return NULL;
}
