/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * libc: names of hosts. A name of several addresses is written as these, with + between them.
 */
#include <netdb.h>
#include <stdio.h>
#include <string.h>

#include "verbs-sim/calls/call.h"

/* The addresses of `rest` behind those of *list. freeaddrinfo(3) frees each entry for itself. */
static int append(struct addrinfo **list, const char *rest, const char *service,
		  const struct addrinfo *hints)
{
	struct addrinfo **end = list;
	int ret;

	while (*end)
		end = &(*end)->ai_next;
	ret = getaddrinfo(rest, service, hints, end);
	if (ret)
		freeaddrinfo(*list);
	return ret;
}

EXPORTED int getaddrinfo(const char *restrict node, const char *restrict service,
			 const struct addrinfo *restrict hints, struct addrinfo **restrict list)
{
	const char *rest = sim_me && node ? strchr(node, '+') : NULL;
	char first[80];
	int ret;

	if (!rest)
		return REAL(getaddrinfo)(node, service, hints, list);
	snprintf(first, sizeof(first), "%.*s", (int)(rest - node), node);
	ret = REAL(getaddrinfo)(first, service, hints, list);
	return ret ? ret : append(list, rest + 1, service, hints);
}
