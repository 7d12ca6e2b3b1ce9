/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Socket addresses: what an error about one has to know, and their text.
 */
#ifndef OUR_ADDRESSES_H
#define OUR_ADDRESSES_H

#include <stdbool.h>
#include <sys/socket.h>

#define OUR_ADDRESS_TEXT 80 /* "[" an IPv6 address with scope "]:65535" and the final 0 */

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
