/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-trace, the tool: finds the libraries' own functions. See real.h. They are looked up with their
 * symbol versions, because the name alone may find an older function of another type.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "verbs-trace/tool/real.h"
#include "verbs.h"

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
