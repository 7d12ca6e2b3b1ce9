/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Looking up addresses. See look_up.h.
 */
#include <errno.h>
#include <string.h>

#include "program/look_up.h"
#include "program/report.h"

int our_look_up_addresses(const char *address, const char *port, struct addrinfo **addresses)
{
	struct addrinfo hints;
	int ret;

	memset(&hints, 0, sizeof(hints));
	hints.ai_socktype = SOCK_STREAM; /* one entry an address, rather than one a protocol */
	hints.ai_flags = AI_NUMERICSERV | (address ? 0 : AI_PASSIVE);
	ret = getaddrinfo(address, port, &hints, addresses);
	if (!ret)
		return 0;
	our_report_sentence("address '%s': %s", address ? address : "any",
			    ret == EAI_SYSTEM ? strerror(errno) : gai_strerror(ret));
	return ret == EAI_NONAME || ret == EAI_NODATA || ret == EAI_ADDRFAMILY ? EINVAL : EAGAIN;
}

void our_free_addresses(struct addrinfo *addresses)
{
	if (addresses)
		freeaddrinfo(addresses);
}
