/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What a flattened server takes from a client. One that is refused is not told why.
 */
#include <errno.h>
#include <inttypes.h>

#include "ping-sr-1/connect_info.h"
#include "program/report.h"

static int refuse(struct our_control *control, enum our_refusal_reason reason, uint64_t limit)
{
	return ERANGE;
}

#define MAX_SIZE (16u << 20) /* bytes a message */

static int check_connect_info(struct our_control *control, const struct our_connect_info *info)
{
	if (info->count && info->data_size && info->data_size <= MAX_SIZE)
		return 0;
	our_report_sentence("client refused: %" PRIu64 " messages of %" PRIu64 " bytes",
			    info->count, info->data_size);
	return ERANGE;
}
