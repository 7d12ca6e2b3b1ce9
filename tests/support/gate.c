/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: preloaded into programs under test by tests/hosts. Contract: the call that
 * GATE_CALL names does not begin before the file $GATE/open exists. A process that waits for it
 * makes a file $GATE/<pid>. The call itself is the library's.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <rdma/rdma_cma.h>

#define PATIENCE_S 60

static void touch(const char *path)
{
	FILE *file = fopen(path, "we");

	if (!file || fclose(file))
		abort();
}

static void await_gate(const char *call)
{
	const struct timespec pause = { .tv_nsec = 10 * 1000 * 1000 };
	const char *wanted = getenv("GATE_CALL"), *gate = getenv("GATE");
	char path[256];
	time_t end = time(NULL) + PATIENCE_S;

	if (!wanted || !gate || strcmp(wanted, call))
		return;
	snprintf(path, sizeof(path), "%s/%ld", gate, (long)getpid());
	touch(path);
	snprintf(path, sizeof(path), "%s/open", gate);
	while (access(path, F_OK)) {
		if (time(NULL) > end)
			abort();
		nanosleep(&pause, NULL);
	}
}

/* ISO C has no conversion from what dlsym(3) returns to a function; POSIX has it in memory. */
#define NEXT(function, call)                                  \
	do {                                                  \
		void *symbol = dlsym(RTLD_NEXT, call);        \
                                                              \
		memcpy(&(function), &symbol, sizeof(symbol)); \
	} while (0)

int rdma_connect(struct rdma_cm_id *id, struct rdma_conn_param *conn_param)
{
	int (*next)(struct rdma_cm_id *, struct rdma_conn_param *);

	await_gate("rdma_connect");
	NEXT(next, "rdma_connect");
	return next(id, conn_param);
}

int rdma_accept(struct rdma_cm_id *id, struct rdma_conn_param *conn_param)
{
	int (*next)(struct rdma_cm_id *, struct rdma_conn_param *);

	await_gate("rdma_accept");
	NEXT(next, "rdma_accept");
	return next(id, conn_param);
}

int rdma_disconnect(struct rdma_cm_id *id)
{
	int (*next)(struct rdma_cm_id *);

	await_gate("rdma_disconnect");
	NEXT(next, "rdma_disconnect");
	return next(id);
}
