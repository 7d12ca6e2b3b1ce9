/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: unit tests of program/measure/user_data.h. That each byte of a message is compared is shown
 * by tests/sim/transcripts/wire.txt.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "program/measure/run.h"
#include "program/measure/user_data.h"
#include "tests/unit/unit.h"

#define LARGEST 4099
#define GUARD   0xa5

static uint8_t memory[LARGEST + 16];
static struct our_buffer buffers[] = { { .data = NULL }, { .data = memory } };
static struct our_run run;
static struct our_control control = { .memory.buffers = buffers, .user = &run };

static void fill(uint32_t size, uint64_t message)
{
	memset(memory, GUARD, sizeof(memory));
	run.data_size = size;
	our_setup_user_data(&control, 1, message);
}

static const uint32_t sizes[] = { 1, 2, 7, 8, 9, 15, 16, 17, 63, 64, 65, 4095, 4096, LARGEST };

UNIT_TESTS(what_was_filled_in_is_right, UNIT_LENGTH(sizes))
{
	size_t i;

	fill(sizes[_i], 42);
	capture_start();
	ck_assert_int_eq(our_verify_data(&control, 1, 42), 0);
	ck_assert_str_eq(captured_stderr(), "");
	for (i = sizes[_i]; i < sizeof(memory); i++)
		ck_assert_msg(memory[i] == GUARD, "byte %zu of %u was written", i, sizes[_i]);
}

UNIT_TEST(a_torn_message_is_found)
{
	uint8_t half[LARGEST];

	fill(64, 42);
	memcpy(half, memory, 32);
	fill(64, 43);
	memcpy(memory, half, 32);
	capture_start();
	ck_assert_int_eq(our_verify_data(&control, 1, 43), EBADMSG);
	assert_holds(captured_stderr(), "byte 0 is");
	ck_assert_int_eq(our_verify_data(&control, 1, 42), EBADMSG);
	assert_holds(captured_stderr(), "byte 32 is");
}

static const uint64_t numbers[] = { 0, 1, 42, 1ull << 32, UINT64_MAX - 1 };

UNIT_TESTS(a_message_tells_its_number, UNIT_LENGTH(numbers))
{
	fill(8, numbers[_i]);
	ck_assert_uint_eq(our_message_number(memory), numbers[_i]);
}
