/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-trace, the tool: -c. See summary.h.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "verbs.h"
#include "verbs-trace/tool/report.h"
#include "verbs-trace/tool/settings.h"
#include "verbs-trace/tool/summary.h"

static struct row {
	_Atomic uint64_t calls, errors, took_ns;
} rows[N_VERBS];

void summary_count(int verb, uint64_t took_ns, bool failed)
{
	struct row *row = &rows[verb];

	__atomic_fetch_add((uint64_t *)&row->calls, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add((uint64_t *)&row->took_ns, took_ns, __ATOMIC_RELAXED);
	if (failed)
		__atomic_fetch_add((uint64_t *)&row->errors, 1, __ATOMIC_RELAXED);
}

uint64_t summary_calls(void)
{
	uint64_t calls = 0;
	int verb;

	for (verb = 0; verb < N_VERBS; verb++)
		calls += rows[verb].calls;
	return calls;
}

static int by_time(const void *left, const void *right)
{
	const int *a = left, *b = right;

	return (rows[*a].took_ns < rows[*b].took_ns) - (rows[*a].took_ns > rows[*b].took_ns);
}

static void tell_row(int verb, uint64_t all_ns)
{
	const struct row *row = &rows[verb];

	if (settings.json)
		report("{\"summary\":\"%s\",\"pid\":%d,\"calls\":%" PRIu64 ",\"errors\":%" PRIu64
		       ",\"total_ns\":%" PRIu64 "}",
		       verbs[verb].name, report_pid(), row->calls, row->errors, row->took_ns);
	else
		report("%6.2f %12.6f %12.3f %10" PRIu64 " %8" PRIu64 " %s",
		       all_ns ? 100.0 * (double)row->took_ns / (double)all_ns : 0.0,
		       (double)row->took_ns / 1e9, (double)row->took_ns / 1e3 / (double)row->calls,
		       row->calls, row->errors, verbs[verb].name);
}

void summary_tell(void)
{
	int order[N_VERBS] = { 0 }, n = 0, verb;
	uint64_t all_ns = 0;

	for (verb = 0; verb < N_VERBS; verb++) {
		if (!rows[verb].calls)
			continue;
		order[n++] = verb;
		all_ns += rows[verb].took_ns;
	}
	qsort(order, (size_t)n, sizeof(order[0]), by_time);
	if (!settings.json)
		report("%6s %12s %12s %10s %8s %s", "% time", "total (s)", "mean (us)", "calls",
		       "errors", "verb");
	for (verb = 0; verb < n; verb++)
		tell_row(order[verb], all_ns);
}

void summary_forked(void)
{
	memset(rows, 0, sizeof(rows));
}
