/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: preloaded into tools/devices/devices by tests/drivers/test_devices.py. Contract: the table
 * of GIDs is the device's, but with GIDS=v1 those of RoCE v2 are of RoCE v1, with GIDS=both each has one
 * of RoCE v1 before it, as adapters list them, and with GIDS=none there are none.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/verbs.h>

typedef ssize_t query_fn(struct ibv_context *context, struct ibv_gid_entry *entries,
			 size_t max_entries, uint32_t flags, size_t entry_size);

/* The function that ibv_query_gid_table(3) calls. */
ssize_t _ibv_query_gid_table(struct ibv_context *context, struct ibv_gid_entry *entries,
			     size_t max_entries, uint32_t flags, size_t entry_size)
{
	void *symbol = dlsym(RTLD_NEXT, "_ibv_query_gid_table");
	const char *wanted = getenv("GIDS");
	query_fn *real;
	ssize_t n, i;
	bool both;

	if (!symbol || !wanted)
		abort();
	both = !strcmp(wanted, "both");
	memcpy(&real, &symbol, sizeof(real));
	n = real(context, entries, max_entries, flags, entry_size);
	if (!strcmp(wanted, "none"))
		return n < 0 ? n : 0;
	for (i = n - 1; both && i >= 0; i--)
		entries[2 * i] = entries[2 * i + 1] = entries[i];
	n = both ? 2 * n : n;
	for (i = 0; i < n; i += both ? 2 : 1)
		entries[i].gid_type = IBV_GID_TYPE_ROCE_V1;
	return n;
}
