/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the part of the independent peer (see peer.c) that shows memory as only an odd server has it:
 * records that are torn or stale, a stream that is not the right one.
 *
 * Contract: to add a kind, add a row to memories[]: what the buffer holds before the client learns of it,
 * and the record that replaces it later.
 */
#include "peer.h"

#define REPLACED_US 20000 /* after this time the second record is there */

struct memory {
	const char *name;
	void (*fill)(const struct peer *p, const struct memory *memory, uint8_t *at);
	uint64_t first, ends, contents, second; /* bytes in a record: see fill_record */
	bool own_sum;
};

/*
 * A record as docs/protocol.md has it, of number `first`; from its middle on it has the contents of number
 * `contents`. `ends` is added to its first and last word: 1, as while it is being changed. The sum is that
 * of the record `first`, or, with `own_sum`, that of what is there. Later number `second` replaces it.
 */
static void fill_record(const struct peer *p, const struct memory *memory, uint8_t *at)
{
	uint64_t n = p->size / 8, sum[2] = { 0 }, word;

	for (uint64_t i = 0; i < n - 2; i++) {
		for (int there = 0; there < 2; there++) {
			uint64_t number = there && i >= n / 2 ? memory->contents : memory->first;

			word = (number * 0x9e3779b97f4a7c15ull) ^ (i * 0xd1342543de82ef95ull);
			word = i ? word : 2 * memory->first + memory->ends;
			sum[there] = (sum[there] ^ word) * 0x100000001b3ull;
		}
		put64(at + 8 * i, word);
	}
	put64(at + 8 * (n - 2), sum[memory->own_sum]);
	put64(at + 8 * (n - 1), 2 * memory->first + memory->ends);
}

/* The first message of blast's pattern, but its last byte. */
static void fill_stream(const struct peer *p, const struct memory *memory, uint8_t *at)
{
	uint64_t word = 0x9e3779b97f4a7c15ull;

	for (uint64_t i = 0; i < p->size; i++) {
		at[i] = ((uint8_t *)&word)[i % 8];
		word += i % 8 == 7 ? 0xd1342543de82ef95ull : 0;
	}
	at[p->size - 1] ^= (uint8_t)memory->first;
}

/* The words of count-atomic-1: the counter, the lock, and what that guards. */
static void fill_counter(const struct peer *p, const struct memory *memory, uint8_t *at)
{
	(void)p, (void)memory;
	memset(at, 0, COUNTER_LEN);
}

static const struct memory memories[] = {
#define RECORD(name_, of_end, ...)                                                              \
	{                                                                                       \
		.name = name_, .fill = fill_record, .first = 4, .contents = of_end, __VA_ARGS__ \
	}
	RECORD("record", 4),
	RECORD("same-numbers", 5),
	RECORD("another-sum", 5, .own_sum = true),
	RECORD("changing", 4, .ends = 1),
	RECORD("older", 4, .second = 1),
	{ .name = "stream", .fill = fill_stream },
	{ .name = "another-stream", .fill = fill_stream, .first = 1 },
	{ .name = "counter", .fill = fill_counter },
};

const struct memory *find_memory(const char *name)
{
	for (size_t i = 0; i < sizeof(memories) / sizeof(memories[0]); i++) {
		if (!strcmp(memories[i].name, name))
			return &memories[i];
	}
	return NULL;
}

void fill_memory(const struct peer *p, uint8_t *at)
{
	const struct memory *memory = find_memory(p->memory);

	memory->fill(p, memory, at);
}

void change_memory(const struct peer *p, uint8_t *at)
{
	struct memory next = *find_memory(p->memory);

	if (!next.second)
		return;
	usleep(REPLACED_US);
	next.first = next.contents = next.second;
	fill_record(p, &next, at);
}
