/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Messages that a program receives, and the changes that --fail makes. See faults.h and device.h.
 */
#include <string.h>

#include "verbs-sim/device/device.h"

#define WORD 4

/* Adds 1 to a number in network byte order. */
static void increment(uint8_t *word, size_t size)
{
	while (size-- && !++word[size])
		;
}

bool sim_change_bytes(enum sim_change change, uint32_t offset, uint8_t *data, uint32_t length)
{
	uint8_t before[WORD];
	size_t size;

	if (offset >= length)
		return false;
	data += offset;
	size = length - offset < WORD ? length - offset : WORD;
	memcpy(before, data, size);
	if (change == SIM_CHANGE_FLIP)
		*data = (uint8_t) ~*data;
	else if (change == SIM_CHANGE_MORE)
		increment(data, size);
	else
		memset(data, change == SIM_CHANGE_ONES ? 0xff : 0, size);
	return memcmp(before, data, size);
}

static uint32_t change_message(struct sim_fault *fault, uint8_t *data, uint32_t length,
			       uint32_t most)
{
	enum sim_change change = (enum sim_change)fault->value;

	fault->length = length;
	fault->most = most;
	memcpy(fault->head, data, length < SIM_HEAD ? length : SIM_HEAD);
	switch (change) {
	case SIM_CHANGE_SHORT:
		fault->happened = most && length;
		length -= fault->happened;
		break;
	case SIM_CHANGE_LONG:
		fault->happened = length < most;
		if (fault->happened)
			data[length++] = 0;
		break;
	default:
		fault->happened = sim_change_bytes(change, fault->offset, data, length);
	}
	if (fault->happened)
		sim_report_fault("message %llu of program %d arrived with %s",
				 (unsigned long long)fault->number, fault->program, fault->how);
	return length;
}

uint32_t sim_receive(const struct sim_program *program, void *data, uint32_t length, uint32_t most)
{
	struct sim_fault *fault = sim_world->faults;

	for (; fault < sim_world->faults + sim_world->n_faults; fault++) {
		if (fault->kind == SIM_FAULT_CHANGE && fault->program == program->number &&
		    ++fault->seen == fault->number)
			length = change_message(fault, data, length, most);
	}
	return length;
}
