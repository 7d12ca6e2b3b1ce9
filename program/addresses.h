/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Addresses: turns what the user typed into socket addresses, and these into text.
 */
#ifndef OUR_ADDRESSES_H
#define OUR_ADDRESSES_H

#include <netdb.h>
#include <stdbool.h>
#include <sys/socket.h>

#define OUR_ADDRESS_TEXT 80 /* "[" an IPv6 address with scope "]:65535" and the final 0 */

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

/* True for 0.0.0.0 and ::, which stand for all addresses of the machine. Any thread. */
bool our_is_any_address(const struct sockaddr *address);

/* True for an address of this machine, if an ordinary socket can be bound to it. */
bool our_is_local_address(const struct sockaddr *address);

/*
 * Writes "192.0.2.1:12321" or "[2001:db8::1]:12321" into text[OUR_ADDRESS_TEXT] and returns text.
 * Any thread.
 */
const char *our_address_text(const struct sockaddr *address, char *text);

#endif
