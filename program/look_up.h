/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Looking up addresses: turns what the user typed into socket addresses.
 */
#ifndef OUR_LOOK_UP_H
#define OUR_LOOK_UP_H

#include <netdb.h>

/*
 * Looks up `address` (IPv4, IPv6 or a name; NULL: any, for a listener) and the decimal `port`.
 *
 * Returns 0 and a list in *addresses, which our_free_addresses frees; EINVAL when there is no such
 * name or address; EAGAIN when the name service failed. Both are reported. See getaddrinfo(3). Any
 * thread.
 */
int our_look_up_addresses(const char *address, const char *port, struct addrinfo **addresses);

/* Frees such a list; NULL is allowed. */
void our_free_addresses(struct addrinfo *addresses);

#endif
