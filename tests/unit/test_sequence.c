/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: unit tests of blast-sr-2/sequence.c: if a message is not the expected one, the report says
 * which message it is.
 */
#include <errno.h>
#include <string.h>

#include "blast-sr-2/blast.h"
#include "program/measure/run.h"
#include "program/measure/user_data.h"
#include "tests/unit/unit.h"

#define SIZE  100
#define COUNT 1000
#define DUE   501 /* this message uses the second of two buffers */

static uint8_t memory[2][SIZE];
static struct our_buffer buffers[] = { { .data = memory[0] }, { .data = memory[1] } };
static struct our_run run = { .n_data_buffers = 2, .data_size = SIZE, .count = COUNT };
static struct our_control agent = { .memory.buffers = buffers, .user = &run };

static void assert_fault(const char *said)
{
	capture_start();
	ck_assert_int_eq(our_check_sequence(&agent, DUE), EBADMSG);
	assert_holds(captured_stderr(), said);
}

UNIT_TEST(the_message_that_was_due)
{
	our_setup_user_data(&agent, 1, DUE);
	capture_start();
	ck_assert_int_eq(our_check_sequence(&agent, DUE), 0);
	ck_assert_str_eq(captured_stderr(), "");
}

UNIT_TEST(one_that_was_lost)
{
	our_setup_user_data(&agent, 1, DUE + 3);
	assert_fault("message 504 came where 501 was due: 3 lost, or out of order");
}

UNIT_TEST(one_that_came_again)
{
	our_setup_user_data(&agent, 1, DUE - 2);
	assert_fault("message 499 came where 501 was due: repeated, or out of order");
}

UNIT_TEST(one_that_is_torn)
{
	our_setup_user_data(&agent, 0, DUE - 2);
	our_setup_user_data(&agent, 1, DUE);
	memcpy(memory[1] + 64, memory[0] + 64, SIZE - 64);
	assert_fault("message 501 is torn: right up to byte 64");
}

/*
 * Two cases in which no message can be named: data that was not written, and a number beyond the
 * last message.
 */
UNIT_TEST(one_that_makes_no_sense)
{
	memset(memory[1], 0, SIZE);
	assert_fault("message 501 is garbled from byte 0 on");
	our_setup_user_data(&agent, 1, COUNT);
	assert_fault("message 501 is garbled");
	our_setup_user_data(&agent, 1, DUE + 3);
	memory[1][SIZE - 1] ^= 1;
	assert_fault("message 501 is garbled");
}

UNIT_TEST(one_too_short_for_a_number)
{
	run.data_size = 7;
	our_setup_user_data(&agent, 1, DUE);
	ck_assert_int_eq(our_check_sequence(&agent, DUE), 0);
	our_setup_user_data(&agent, 1, DUE + 2);
	assert_fault("message 501 is not what came");
}
