/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * blast-sr-2: finds out what is wrong with a message that was not expected. Each message carries
 * its number, and a pattern made from it (program/measure/user_data.h). See blast.h.
 */
#include <errno.h>
#include <inttypes.h>

#include "blast-sr-2/blast.h"
#include "program/measure/run.h"
#include "program/measure/user_data.h"
#include "program/report.h"

#define NUMBER_LENGTH 8

static void name_fault(const struct our_control *agent, uint32_t index, uint64_t due, size_t offset)
{
	uint64_t number = our_message_number(agent->memory.buffers[index].data);
	const struct our_run *run = our_run_of(agent);

	if (offset >= NUMBER_LENGTH)
		our_report_sentence("message %" PRIu64 " is torn: right up to byte %zu, where "
				    "something else begins",
				    due, offset);
	else if (our_find_difference(agent, index, number) != run->data_size ||
		 number >= run->count)
		our_report_sentence("message %" PRIu64 " is garbled from byte %zu on: was the "
				    "client started with -v, too?",
				    due, offset);
	else if (number > due)
		our_report_sentence("message %" PRIu64 " came where %" PRIu64 " was due: %" PRIu64
				    " lost, or out of order",
				    number, due, number - due);
	else
		our_report_sentence("message %" PRIu64 " came where %" PRIu64
				    " was due: repeated, or out of order",
				    number, due);
}

int our_check_sequence(const struct our_control *agent, uint64_t message)
{
	const struct our_run *run = our_run_of(agent);
	uint32_t index = (uint32_t)(message % run->n_data_buffers);
	size_t offset = our_find_difference(agent, index, message);

	if (offset == run->data_size)
		return 0;
	if (run->data_size >= NUMBER_LENGTH)
		name_fault(agent, index, message, offset);
	else
		our_report_sentence("message %" PRIu64 " is not what came: too short for a "
				    "number, it cannot be said what did",
				    message);
	return EBADMSG;
}
