/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What a flattened server takes from a client. One that is refused is not told why.
 */
#include <errno.h>
#include <inttypes.h>

#include "common/stage.h"
#include "ping-sr-1/connect_info.h"
#include "program/report.h"

#define MAX_SIZE (16u << 20) /* bytes a message */

int our_take_connect_info(struct our_control *control, const struct our_cm_event *request)
{
	struct our_connect_info info = { .count = 0 };

	if (our_decode_connect_info(request->private_data, request->private_data_length, &info) ||
	    !info.count || !info.data_size || info.data_size > MAX_SIZE) {
		our_report_sentence("client refused: its private data (%u bytes) ask for %" PRIu64
				    " messages of %" PRIu64 " bytes",
				    request->private_data_length, info.count, info.data_size);
		return ERANGE;
	}
	control->count = info.count;
	control->data_size = (uint32_t)info.data_size;
	control->n_data_buffers = info.n_data_buffers < UINT32_MAX ? (uint32_t)info.n_data_buffers
								   : UINT32_MAX;
	control->has_extension = info.has_extension;
	return our_check_transfer(control);
}

/* What is not in order is said, and that is all. */
static int refuse(struct our_control *control, enum our_refusal_reason reason, uint64_t limit)
{
	return ERANGE;
}
