/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-trace, the tool: stores accusations and prints them at exit. See watch.h.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "verbs-trace/tool/guard.h"
#include "verbs-trace/tool/settings.h"
#include "verbs-trace/tool/watch.h"

#define MANY 20 /* accusations of one kind that are stored; of the others only the number is */

static const char *const sort_names[] = {
#define SORT(sort, name, pitfall) name,
	SORTS(SORT)
#undef SORT
};
static const char *const pitfalls[] = {
#define SORT(sort, name, pitfall) pitfall,
	SORTS(SORT)
#undef SORT
};

static struct accusation {
	struct moment moment;
	char text[240];
} kept[N_SORTS][MANY];
static unsigned int n_kept[N_SORTS];

void accuse(enum sort sort, struct moment moment, const char *format, ...)
{
	struct accusation *accusation;
	va_list arguments;

	guard_lock(GUARD_ACCUSATIONS);
	if (n_kept[sort]++ < MANY) {
		accusation = &kept[sort][n_kept[sort] - 1];
		accusation->moment = moment;
		va_start(arguments, format);
		vsnprintf(accusation->text, sizeof(accusation->text), format, arguments);
		va_end(arguments);
	}
	guard_unlock(GUARD_ACCUSATIONS);
}

static void tell(enum sort sort, const struct accusation *accusation)
{
	uint64_t since = accusation->moment.when - trace_start;
	const char *verb = verbs[accusation->moment.verb].name;

	if (settings.json)
		sink_line("{\"accusation\":\"%s\",\"pid\":%d,\"call\":\"%s\",\"time_ns\":%" PRIu64
			  ",\"text\":\"%s\",\"pitfall\":\"%s\"}",
			  sort_names[sort], (int)getpid(), verb, since, accusation->text,
			  pitfalls[sort]);
	else
		sink_line("  %s: %s; %s at " SECONDS, sort_names[sort], accusation->text, verb,
			  IN_SECONDS(since));
}

static void tell_sort(enum sort sort)
{
	unsigned int i, n = n_kept[sort];

	for (i = 0; i < n && i < MANY; i++)
		tell(sort, &kept[sort][i]);
	if (n > MANY && !settings.json)
		sink_line("  %s: and %u more", sort_names[sort], n - MANY);
	if (n && !settings.json)
		sink_line("      see docs/pitfalls.md: \"%s\"", pitfalls[sort]);
}

void accuse_forked(void)
{
	memset(n_kept, 0, sizeof(n_kept));
}

void accuse_tell(void)
{
	unsigned int total = 0;
	int sort;

	for (sort = 0; sort < N_SORTS; sort++)
		total += n_kept[sort];
	if (!total)
		return;
	if (!settings.json)
		sink_line("verbs-trace: %u accusation%s", total, total == 1 ? "" : "s");
	for (sort = 0; sort < N_SORTS; sort++)
		tell_sort((enum sort)sort);
}
