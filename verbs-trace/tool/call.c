/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-trace, the tool: what each call needs: the clock, the libraries' own functions, and the error of a
 * result. See call.h.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "verbs-trace/tool/call.h"
#include "verbs.h"

bool tracing;

uint64_t call_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

struct moment call_moment(const struct call *call)
{
	return (struct moment){ call->verb, call->began ? call->began : call_now() };
}

int error_of_bad(long long ret)
{
	if (ret == -1)
		return errno ? errno : EIO;
	return ret < 0 ? (int)-ret : (int)ret;
}

int error_of_pointer(const void *ret)
{
	if (ret)
		return 0;
	return errno ? errno : ENOMEM;
}

static void *_Atomic found[N_VERBS];

void *real_function(int verb)
{
	void *function = found[verb];

	if (function)
		return function;
	function = dlvsym(RTLD_NEXT, verbs[verb].name, verbs[verb].version);
	if (!function)
		function = dlsym(RTLD_NEXT, verbs[verb].name);
	if (!function) {
		fprintf(stderr, "verbs-trace: the installed RDMA libraries have no %s\n",
			verbs[verb].name);
		abort();
	}
	found[verb] = function;
	return function;
}
