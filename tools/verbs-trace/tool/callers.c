/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-trace, the tool: the callers of a verb. See callers.h.
 */
#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>

#include "verbs-trace/tool/callers.h"

static const struct link_map *ours;

static const struct link_map *object_of_code(const void *address)
{
	struct link_map *map = NULL;
	Dl_info info;

	return dladdr1(address, &info, (void **)&map, RTLD_DL_LINKMAP) ? map : NULL;
}

static const char *name_of(const void *address)
{
	Dl_info info;

	return dladdr(address, &info) && info.dli_fname ? info.dli_fname : "?";
}

void callers_prepare(void)
{
	struct callers unused;

	callers_note(&unused);
	ours = object_of_code((const void *)(uintptr_t)callers_prepare);
}

void callers_note(struct callers *callers)
{
	callers->n = backtrace(callers->addresses, CALLERS_MOST);
}

/*
 * An address is where the function will go on. The byte before it belongs to the call itself, so
 * addr2line(1) finds the call's line.
 */
void callers_show(struct out *out, const struct callers *callers)
{
	size_t binary = out->binary;
	char text[4096 + 24];
	int i = 0;

	while (i < callers->n && object_of_code(callers->addresses[i]) == ours)
		i++;
	if (i == callers->n)
		return;
	out_raw(out, out->json ? "" : " ");
	out->comma = out->json;     /* a line of JSON already has items */
	out->binary = sizeof(text); /* a path is not cut as data is */
	out_open_list(out, "from");
	for (; i < callers->n; i++) {
		uintptr_t call = (uintptr_t)callers->addresses[i] - 1;
		const struct link_map *map = object_of_code((const void *)call);

		snprintf(text, sizeof(text), "%s+0x%tx", name_of((const void *)call),
			 (ptrdiff_t)(call - (map ? map->l_addr : 0)));
		out_string(out, NULL, text);
	}
	out_close_list(out);
	out->binary = binary;
}
