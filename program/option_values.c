/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The values of options. See option_values.h.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "program/numbers.h"
#include "program/option_values.h"
#include "program/options.h"
#include "program/report.h"

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
		our_report_sentence("%s takes a number%s, not '%s'; see --help", typed,
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
