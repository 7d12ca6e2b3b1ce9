/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-rdma-3: a pattern that has no zero byte, and differs from message to message. See
 * watch.h.
 */
#include <errno.h>
#include <inttypes.h>

#include "beyond/ping-rdma-3/watch.h"
#include "measure/run.h"
#include "program/report.h"

/* `left`: bytes after it. our_last_byte gives the last one. */
static uint8_t byte_of(uint64_t message, size_t left)
{
	return (uint8_t)(1 + (message + left * 7 + left / 251) % 255);
}

void our_setup_nonzero_data(struct our_control *control, uint32_t index, uint64_t message)
{
	uint8_t *data = control->memory.buffers[index].data;
	size_t last = our_run_of(control)->data_size - 1, i;

	for (i = 0; i <= last; i++)
		data[i] = byte_of(message, last - i);
}

int our_verify_nonzero_data(const struct our_control *control, uint32_t index, uint64_t message)
{
	const uint8_t *data = control->memory.buffers[index].data;
	size_t last = our_run_of(control)->data_size - 1, i = 0;

	while (i <= last && data[i] == byte_of(message, last - i))
		i++;
	if (i > last)
		return 0;
	our_report_sentence("message %" PRIu64 ": byte %zu is 0x%02x, should be 0x%02x", message, i,
			    data[i], byte_of(message, last - i));
	return EBADMSG;
}
