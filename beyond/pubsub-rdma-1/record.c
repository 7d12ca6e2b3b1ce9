/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * pubsub-rdma-1: a record that shows whether it is whole. See record.h.
 *
 * It has words of eight bytes: the number, the contents, a sum over both, the number again. The numbers
 * are twice the record's own; while the record is being changed they are one less, and so odd.
 */
#include <endian.h>
#include <errno.h>
#include <inttypes.h>

#include "beyond/ping-rdma-3/barrier.h"
#include "beyond/pubsub-rdma-1/record.h"
#include "program/options.h"
#include "program/report.h"

#define WORD sizeof(uint64_t)

enum record_check {
	CHECK_BOTH = 1,
	CHECK_NUMBERS,
	CHECK_SUM,
	CHECK_NONE,
};

static uint64_t check = CHECK_BOTH; /* --check */

const struct our_option our_record_options[] = {
	{ "verify", 'v', NULL, "look at every word of a record", OUR_FLAG(verify) },
	{ "check", 0, "both|numbers|sum|none",
	  "how to tell a whole record from a torn one (default both; none: do not check)",
	  OUR_OWN_WORD(check) },
	{ 0 },
};

bool our_is_record_size(size_t size)
{
	if (size >= OUR_MIN_RECORD && size <= OUR_MAX_RECORD && size % WORD == 0)
		return true;
	our_report_sentence("a record has %d to %d bytes, and a multiple of %zu (-s)",
			    OUR_MIN_RECORD, OUR_MAX_RECORD, WORD);
	return false;
}

/* Each word is loaded and stored in one piece, as others read or change it at the same time. */
static uint64_t load(const uint8_t *data, size_t word)
{
	return be64toh(
		__atomic_load_n((const uint64_t *)(const void *)data + word, __ATOMIC_RELAXED));
}

static void store(uint8_t *data, size_t word, uint64_t value)
{
	__atomic_store_n((uint64_t *)(void *)data + word, htobe64(value), __ATOMIC_RELAXED);
}

/* The contents of record number `number` at a place: a real program would have its data there. */
static uint64_t contents(uint64_t number, size_t word)
{
	return (number * 0x9e3779b97f4a7c15u) ^ (word * 0xd1342543de82ef95u);
}

static uint64_t add_to_sum(uint64_t sum, uint64_t word)
{
	return (sum ^ word) * 0x100000001b3u;
}

void our_change_record(uint8_t *record, size_t size, uint64_t number)
{
	size_t words = size / WORD, i;
	uint64_t sum = add_to_sum(0, 2 * number);

	store(record, words - 1, 2 * number - 1);
	store(record, 0, 2 * number - 1);
	our_to_device_barrier(); /* the odd numbers come before the contents */
	for (i = 1; i < words - 2; i++) {
		store(record, i, contents(number, i));
		sum = add_to_sum(sum, contents(number, i));
	}
	store(record, words - 2, sum);
	our_to_device_barrier(); /* the even numbers come after the contents */
	store(record, words - 1, 2 * number);
	store(record, 0, 2 * number);
}

uint64_t our_record_number(const uint8_t *record)
{
	return load(record, 0) / 2;
}

static bool numbers_agree(const uint8_t *copy, size_t size)
{
	uint64_t before = load(copy, 0);

	return before && before % 2 == 0 && before == load(copy, size / WORD - 1);
}

static bool sum_agrees(const uint8_t *copy, size_t size)
{
	size_t words = size / WORD, i;
	uint64_t sum = 0;

	for (i = 0; i < words - 2; i++)
		sum = add_to_sum(sum, load(copy, i));
	return sum && sum == load(copy, words - 2);
}

bool our_record_is_whole(const uint8_t *copy, size_t size)
{
	if (check == CHECK_NONE)
		return true;
	if (check != CHECK_SUM && !numbers_agree(copy, size))
		return false;
	return check == CHECK_NUMBERS || sum_agrees(copy, size);
}

bool our_copy_record(uint8_t *copy, const uint8_t *record, size_t size)
{
	size_t words = size / WORD, i;

	/*
	 * Copies the last word first, and the first one last. Read in ascending order, the numbers
	 * would prove nothing against a device that writes in the same order. Our own thread makes
	 * both odd before it begins.
	 */
	store(copy, words - 1, load(record, words - 1));
	our_from_device_barrier();
	for (i = 1; i < words - 1; i++)
		store(copy, i, load(record, i));
	our_from_device_barrier();
	store(copy, 0, load(record, 0));
	return our_record_is_whole(copy, size);
}

int our_verify_record(const uint8_t *copy, size_t size, uint64_t *newest)
{
	uint64_t number = our_record_number(copy);
	size_t i;

	/* The second number is not part of the data: it may already be the next record's. */
	if (load(copy, 0) % 2)
		goto torn;
	for (i = 1; i < size / WORD - 2; i++) {
		if (load(copy, i) != contents(number, i))
			goto torn;
	}
	if (number < *newest) {
		our_report_sentence("record %" PRIu64 " came after record %" PRIu64, number,
				    *newest);
		return EBADMSG;
	}
	*newest = number;
	return 0;

torn:
	our_report_sentence("a torn record was taken for a whole one: it says that it is number "
			    "%" PRIu64 " (0x%" PRIx64 " before, 0x%" PRIx64 " after)",
			    number, load(copy, 0), load(copy, size / WORD - 1));
	return EBADMSG;
}
