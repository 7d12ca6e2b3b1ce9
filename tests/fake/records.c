/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: fake verbs, peers of pubsub-rdma-1 and -2: publishers, whose record is whole or torn as
 * config says, and subscribers, which accept only whole records and check every word. Contract: the
 * record, and the messages before and after, are those of docs/protocol.md.
 */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fake/state.h"

#define WORD        sizeof(uint64_t)
#define MOST        (1u << 16) /* bytes of a record */
#define PATIENCE_MS 5000       /* for the program's thread */
#define PATIENCE    1000000u   /* READs of a record that is changing */

/* ---- the record ---- */

static uint64_t contents(uint64_t number, uint32_t word)
{
	return (number * 0x9e3779b97f4a7c15u) ^ (word * 0xd1342543de82ef95u);
}

static uint64_t sum_of(const uint64_t *words, uint32_t n)
{
	uint64_t sum = 0;
	uint32_t i;

	for (i = 0; i < n - 2; i++)
		sum = (sum ^ words[i]) * 0x100000001b3u;
	return sum;
}

/* In the byte order of this machine. */
static void make_record(uint64_t *words, uint32_t n, uint64_t number)
{
	uint32_t i;

	for (i = 1; i < n - 2; i++)
		words[i] = contents(number, i);
	words[0] = words[n - 1] = 2 * number;
	words[n - 2] = sum_of(words, n);
}

static bool is_whole(const uint64_t *words, uint32_t n)
{
	return words[0] && words[0] % 2 == 0 && words[0] == words[n - 1] &&
	       words[n - 2] == sum_of(words, n);
}

/* Checks a whole record, which may not be older than the one before. */
static void check_record(struct fake_peer *peer, const uint64_t *words)
{
	uint64_t number = words[0] / 2;
	uint32_t i, n = peer->size / WORD;

	for (i = 1; i < n - 2; i++) {
		if (words[i] != contents(number, i)) {
			fake_complain("word %u of record %llu is another's", i,
				      (unsigned long long)number);
			return;
		}
	}
	if (number < peer->number)
		fake_complain("record %llu came after a newer one", (unsigned long long)number);
	peer->number = number;
}

/*
 * The program's threads change or read the record at the same time: each word is loaded and stored
 * as a whole.
 */
static void load(uint64_t *words, const uint8_t *memory, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		words[i] = be64toh(__atomic_load_n((const uint64_t *)(const void *)memory + i,
						   __ATOMIC_ACQUIRE));
}

static void store(uint8_t *memory, const uint64_t *words, uint32_t from, uint32_t end)
{
	for (; from < end; from++)
		__atomic_store_n((uint64_t *)(void *)memory + from, htobe64(words[from]),
				 __ATOMIC_RELEASE);
}

/* ---- a publisher whose record is read ---- */

/* What a READ finds if it meets a change: a mixture of two records; otherwise the newer one. */
static bool show(struct fake_peer *peer, uint64_t *words)
{
	uint32_t n = peer->size / WORD, half = 1 + (n - 3) / 2;
	enum fake_records how = fake_config->records;
	uint64_t turn = peer->turns++, newer[MOST / WORD];

	if (how == FAKE_OLDER)
		peer->number = turn < 2 ? turn + 3 : 1;
	else if (how != FAKE_IN_TURNS || turn % 5 != 4)
		peer->number++;
	make_record(words, n, peer->number);
	make_record(newer, n, peer->number + 1);
	if (how == FAKE_NO_WHOLE || (how == FAKE_IN_TURNS && turn % 5 == 0)) {
		words[0] = words[n - 1] = 2 * peer->number + 1; /* during the change */
		memcpy(words + 1, newer + 1, half * WORD);
	} else if (how == FAKE_IN_TURNS && turn % 5 == 2) {
		memcpy(words, newer, (half + 1) * WORD); /* the change is ahead of the READ */
	} else if (how == FAKE_IN_TURNS && turn % 5 == 3) {
		memcpy(words + 1, newer + 1, half * WORD); /* the same number twice */
	} else if (how >= FAKE_SAME_NUMBERS && how != FAKE_OLDER && turn == 1) {
		memcpy(words + 1, newer + 1, half * WORD);
		if (how == FAKE_ALL_BUT_BYTES)
			words[n - 2] = sum_of(words, n);
	} else {
		return true;
	}
	return false;
}

static void answer_reader(struct fake_qp *qp, const struct fake_wr *wr)
{
	struct fake_peer *peer = qp->id->peer;
	uint64_t words[MOST / WORD];
	bool whole;
	uint32_t i;

	if (wr->opcode != IBV_WC_RDMA_READ || wr->length != peer->size)
		fake_complain("a subscriber does other than READ the record");
	if (peer->told)
		fake_complain("a subscriber READs although it has told its count");
	whole = show(peer, words);
	peer->received += whole;
	for (i = 0; i < peer->size / WORD; i++)
		words[i] = htobe64(words[i]);
	fake_scatter(wr, (const uint8_t *)words, peer->size);
	if (!whole)
		return;
	fake_may_stop_program(peer);
	fake_server_may_leave(peer);
}

/* ---- a subscriber that READs ---- */

static bool read_program(struct fake_peer *peer)
{
	const uint8_t *memory = fake_find_in_program(peer, peer->size, IBV_ACCESS_REMOTE_READ);
	uint64_t words[MOST / WORD];
	uint32_t tries = 0;

	if (!memory)
		return false;
	do
		load(words, memory, peer->size / WORD);
	while (!is_whole(words, peer->size / WORD) && ++tries < PATIENCE);
	if (tries == PATIENCE)
		fake_complain("there is no whole record");
	else
		check_record(peer, words);
	peer->sent++;
	peer->received++;
	fake_may_stop_program(peer);
	return tries < PATIENCE;
}

/* All READs of a record, or as many as there are before the client leaves or falls silent. */
static void read_records(struct fake_peer *peer)
{
	unsigned int waits;

	/* If the period is judged, the record has to change before this is over. */
	for (waits = 0; fake_config->period_ns && !fake_report->periods && waits < PATIENCE_MS;
	     waits++)
		fake_let_others_run();
	while (peer->sent < peer->count && !fake_is_silent(peer) && !fake_has_quit(peer)) {
		if (!read_program(peer))
			return;
	}
	if (fake_has_quit(peer))
		fake_put_leave(peer);
	else
		fake_tell_count(peer, peer->count + fake_config->one_more);
}

/* ---- a publisher that WRITEs ---- */

/*
 * Writes the first or the last half of a record, or a whole one, or the missing half of the last
 * one.
 */
static void write_to_program(struct fake_peer *peer)
{
	uint32_t n = peer->size / WORD, from = 0, end = n;
	uint8_t *memory = fake_find_in_program(peer, peer->size, IBV_ACCESS_REMOTE_WRITE);
	uint64_t words[MOST / WORD];

	if (!memory)
		return;
	peer->number += !peer->torn;
	make_record(words, n, peer->number);
	peer->torn = !peer->torn && peer->number % 3;
	if (peer->torn && peer->number % 3 == 1)
		end = n / 2;
	else if (peer->torn)
		from = n / 2;
	store(memory, words, from, end);
	if (peer->torn)
		return;
	peer->sent++;
	peer->received = peer->sent < peer->count ? peer->sent : peer->count - 1;
	fake_may_stop_program(peer);
	fake_server_may_leave(peer);
	if (fake_is_silent(peer))
		fake_raise(peer->id);
}

static bool may_write(const struct fake_peer *peer)
{
	return !peer->is_client && !peer->told && !fake_is_silent(peer) && fake_may_act(peer);
}

/* With known_us: the half of a torn record comes after half of its time. */
static void write_in_time(struct fake_peer *peer)
{
	uint64_t now_ns = fake_known_now_ns(), due_ns, half_ns;
	bool begins;

	while (may_write(peer)) {
		due_ns = fake_due_ns();
		half_ns = (due_ns - fake_report->known_last_ns) / 2;
		begins = !peer->torn && (peer->number + 1) % 3;
		if (now_ns < (begins ? due_ns - half_ns : due_ns))
			break;
		write_to_program(peer);
		if (!peer->torn)
			fake_due_arrived();
	}
}

void fake_publishers_move(void)
{
	struct fake_peer *peer;

	if (!fake_config->pushes)
		return;
	for (peer = fake_first_peer(); peer; peer = LIST_NEXT(peer, all)) {
		if (fake_time_is_known())
			write_in_time(peer);
		else if (may_write(peer))
			write_to_program(peer);
	}
}

/* ---- a subscriber that is written to ---- */

static void take_write(struct fake_peer *peer, const struct fake_wr *wr, uint8_t *memory,
		       const uint8_t *data)
{
	uint64_t words[MOST / WORD];

	if (wr->opcode != IBV_WC_RDMA_WRITE || wr->length != peer->size)
		fake_complain("a publisher does other than WRITE the record");
	memcpy(memory, data, wr->length);
	load(words, memory, wr->length / WORD);
	if (!is_whole(words, peer->size / WORD))
		fake_complain("a publisher WRITEs a torn record");
	else
		check_record(peer, words);
	if (peer->heard)
		fake_complain("a publisher WRITEs although it has told its count");
	peer->turns++;
	if (peer->told)
		return;
	peer->sent = ++peer->received;
	fake_may_stop_program(peer);
	if (fake_has_quit(peer))
		fake_put_leave(peer);
	else if (fake_is_silent(peer))
		fake_raise(peer->id);
	if (peer->received < peer->count || fake_has_quit(peer))
		return;
	peer->told = true;
	fake_tell_count(peer, peer->count);
}

/* ---- both ---- */

static void carry_out(struct fake_qp *qp, const struct fake_wr *wr, uint8_t *memory,
		      const uint8_t *data)
{
	struct fake_peer *peer = qp->id->peer;

	if (fake_config->pushes && peer->is_client)
		take_write(peer, wr, memory, data);
	else if (!fake_config->pushes && !peer->is_client)
		answer_reader(qp, wr);
	else
		fake_complain("the program has no business in its peer's memory");
}

static void start(struct fake_peer *peer)
{
	if (!fake_config->pushes)
		read_records(peer);
	else if (fake_find_remote_mr(peer->rkey))
		fake_complain("a publisher that WRITEs opens memory of its own");
}

static void check_count(const struct fake_peer *peer, uint64_t count)
{
	if (!fake_config->pushes && (count != peer->received || peer->received > peer->count))
		fake_complain("the client tells another count than that of its records");
}

/* The count of a publisher is that of its WRITEs. */
static void client_hears_count(struct fake_peer *peer, uint64_t count)
{
	if (count != (fake_config->pushes ? peer->turns : 0))
		fake_complain("the publisher tells another count than that of its WRITEs");
	fake_check_closed(peer);
	peer->heard = true;
	fake_client_is_done(peer);
}

static void hear_count(struct fake_peer *peer, uint64_t count)
{
	if (peer->is_client) {
		client_hears_count(peer, count);
		return;
	}
	if (peer->torn)
		write_to_program(peer); /* WRITEs that are under way arrive before the count */
	if (fake_config->pushes && !fake_is_silent(peer))
		peer->received = count;
	if (fake_config->pushes && count > peer->number)
		fake_complain("the client has taken more records than there were");
	if (count != peer->received || peer->received > peer->count)
		fake_complain("the client tells another count than that of its records");
	peer->told = true;
	fake_tell_count(peer, fake_config->pushes ? peer->sent : 0);
}

const struct fake_wire fake_record_wire = {
	FAKE_EXCHANGE,
	.start = start,
	.hear_count = hear_count,
	.check_count = check_count,
	.carry_out = carry_out,
};
