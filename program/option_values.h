/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/* Conversion of the user's text into values: numbers, words, and addresses. */
#ifndef OUR_OPTION_VALUES_H
#define OUR_OPTION_VALUES_H

#include <netdb.h>
#include <stdbool.h>
#include <stdint.h>

#include "program/options.h"

/*
 * Reads the whole of `text` as a decimal number from `min` to `max`. With `suffixes`, one of k, m
 * or g may follow (times 1024, 1024^2, 1024^3), in either case. No sign, no space, no other
 * characters.
 *
 * Returns 0 and sets *value; or EINVAL (not such a number) or ERANGE (a number, but out of bounds)
 * and leaves *value alone. Reports nothing. Any thread.
 */
int our_parse_number(const char *text, bool suffixes, uint64_t min, uint64_t max, uint64_t *value);

/* Writes the option as typed, by its letter if it has one, into text[size], and returns text. */
const char *our_typed_option(const struct our_option *option, char *text, size_t size);

/* Convert `text` for OUR_OPTION_NUMBER, _BYTES and _WORD. Return 0; or EINVAL, reported. */
int our_take_number(const struct our_option *option, const char *text, uint64_t *value);
int our_take_word(const struct our_option *option, const char *text, uint64_t *value);

/*
 * Looks up `address` (IPv4, IPv6 or a name; NULL: any, for a listener) and the decimal `port`.
 *
 * Returns 0 and a list in *addresses, which our_free_addresses frees; EINVAL when there is no such
 * name or address; EAGAIN when the name service failed. Both are reported. See getaddrinfo(3). Any
 * thread.
 */
int our_look_up_addresses(const char *address, const char *port, struct addrinfo **addresses);

/* Frees a list of our_look_up_addresses; NULL is allowed. */
void our_free_addresses(struct addrinfo *addresses);

#endif
