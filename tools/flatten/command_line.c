/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What a flattened program has in place of program/options.c. USAGE, LETTERS and CASES are
 * put in by options.py.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "program/addresses.h"
#include "program/options.h"
#include "program/report.h"

/* A decimal number from `min`, 0 or 1, to `max`. */
static int take_number(const char *text, uint64_t min, uint64_t max, uint64_t *value)
{
	char *end;

	*value = strtoull(text, &end, 10);
	if (isdigit((unsigned char)*text) && !*end && (*value || !min) && *value <= max)
		return 0;
	our_report_sentence("'%s' is no number from %" PRIu64 " to %" PRIu64, text, min, max);
	return EINVAL;
}

static int show_usage(void)
{
	fputs(USAGE, stderr);
	return EINVAL;
}

int our_process_options(int argc, char **argv, const struct our_program *program,
			struct our_options *options)
{
	int letter, ret = 0;

	memset(options, 0, sizeof(*options));
	options->port = OUR_DEFAULT_PORT;
	options->clients = 1;
	options->count = OUR_DEFAULT_COUNT;
	options->data_size = OUR_DEFAULT_SIZE;
	options->timeout_s = program->timeout_s;
	while (!ret && (letter = getopt(argc, argv, LETTERS)) != -1) {
		switch (letter) {
			CASES
		default:
			return show_usage();
		}
	}
	if (ret)
		return ret;
	if (optind < argc || (IS_CLIENT && !options->address))
		return show_usage();
	return our_look_up_addresses(options->address, options->port, &options->addresses);
}

void our_unprocess_options(struct our_options *options)
{
	our_free_addresses(options->addresses);
}
