/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Reading the peer's line in a flattened program.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "ping-rc-0/bare.h"

static int parse_line(const char *line, struct our_bare_end *end)
{
	unsigned int lid;
	int i, at = 0;

	if (memchr(line, '\0', sizeof(LINE)) != line + sizeof(LINE) - 1 ||
	    sscanf(line, "%4x:%6x:%6x:%n", &lid, &end->qp_num, &end->psn, &at) != 3 ||
	    at != sizeof(LINE) - 1 - DIGITS)
		return EPROTO;
	end->lid = (uint16_t)lid;
	for (i = 0; i < DIGITS / 2; i++) {
		if (sscanf(line + at + 2 * i, "%2hhx", &end->gid.raw[i]) != 1)
			return EPROTO;
	}
	return 0;
}
