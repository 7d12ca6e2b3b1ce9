/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Miscellaneous layer: socket addresses. See addresses.h.
 */
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/private.h"

bool our_is_any_address(const struct sockaddr *address)
{
	if (address->sa_family == AF_INET6)
		return IN6_IS_ADDR_UNSPECIFIED(
			&((const struct sockaddr_in6 *)(const void *)address)->sin6_addr);
	return ((const struct sockaddr_in *)(const void *)address)->sin_addr.s_addr == INADDR_ANY;
}

static socklen_t address_length(const struct sockaddr *address)
{
	return address->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6)
					      : sizeof(struct sockaddr_in);
}

bool our_is_local_address(const struct sockaddr *address)
{
	struct sockaddr_in6 any_port; /* room for either family; the port is at the same place */
	bool local;
	int fd;

	memcpy(&any_port, address, address_length(address));
	any_port.sin6_port = 0;
	fd = socket(address->sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return false;
	local = !bind(fd, (struct sockaddr *)&any_port, address_length(address));
	close(fd);
	return local;
}

const char *our_address_text(const struct sockaddr *address, char *text)
{
	char host[64], port[8];

	if (getnameinfo(address, address_length(address), host, sizeof(host), port, sizeof(port),
			NI_NUMERICHOST | NI_NUMERICSERV))
		snprintf(text, OUR_ADDRESS_TEXT, "(no address)");
	else
		snprintf(text, OUR_ADDRESS_TEXT,
			 address->sa_family == AF_INET6 ? "[%s]:%s" : "%s:%s", host, port);
	return text;
}
