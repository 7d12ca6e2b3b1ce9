/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Conversion of the user's text into values: numbers, read strictly, words, and addresses. See
 * option_values.h.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/option_values.h"
#include "program/report.h"

static unsigned int shift_of_suffix(char suffix)
{
	switch (tolower((unsigned char)suffix)) {
	case 'k':
		return 10;
	case 'm':
		return 20;
	case 'g':
		return 30;
	default:
		return 0;
	}
}

int our_parse_number(const char *text, bool suffixes, uint64_t min, uint64_t max, uint64_t *value)
{
	unsigned long long number;
	unsigned int shift = 0;
	char *end;

	/* strtoull alone would accept leading space and a sign. */
	if (!isdigit((unsigned char)text[0]))
		return EINVAL;
	errno = 0;
	number = strtoull(text, &end, 10);
	if (suffixes && *end) {
		shift = shift_of_suffix(*end);
		if (shift)
			end++;
	}
	if (*end)
		return EINVAL;
	if (errno || number > UINT64_MAX >> shift)
		return ERANGE;
	number <<= shift;
	if (number < min || number > max)
		return ERANGE;
	*value = number;
	return 0;
}

const char *our_typed_option(const struct our_option *option, char *typed, size_t size)
{
	if (option->letter)
		snprintf(typed, size, "-%c", option->letter);
	else
		snprintf(typed, size, "--%s", option->name);
	return typed;
}

int our_take_number(const struct our_option *option, const char *text, uint64_t *value)
{
	bool suffixes = option->kind == OUR_OPTION_BYTES;
	int ret = our_parse_number(text, suffixes, option->min, option->max, value);
	char typed[32];

	our_typed_option(option, typed, sizeof(typed));
	if (ret == EINVAL)
		our_report_sentence("%s takes a whole number%s, not '%s'; see --help", typed,
				    suffixes ? " (suffix k, m or g)" : "", text);
	else if (ret == ERANGE)
		our_report_sentence("%s takes a number from %" PRIu64 " to %" PRIu64
				    ", not %s; see --help",
				    typed, option->min, option->max, text);
	return ret ? EINVAL : 0;
}

int our_take_word(const struct our_option *option, const char *text, uint64_t *value)
{
	size_t length = strlen(text), word_length;
	const char *word = option->argument;
	uint64_t number;
	char typed[32];

	for (number = 1;; number++, word += word_length + 1) {
		word_length = strcspn(word, "|");
		if (word_length == length && !memcmp(word, text, length)) {
			*value = number;
			return 0;
		}
		if (!word[word_length])
			break;
	}
	our_report_sentence("%s takes one of %s, not '%s'; see --help",
			    our_typed_option(option, typed, sizeof(typed)), option->argument, text);
	return EINVAL;
}

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
