/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: fake verbs, WRITE and READ, and peers that use them. Contract: an rkey, an address or an
 * access right that does not match is reported, on either side. The messages of 16 and 8 bytes
 * before and after the transfer are those of docs/protocol.md.
 */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fake/state.h"

#define BUFFER_MESSAGE 16 /* bytes of the first message, */
#define COUNT_MESSAGE  8  /* and of the second one */

#define WORDS     3 /* of count-atomic-1: a counter, a lock, and the word that it guards */
#define LOCK      1
#define GUARDED   2
#define OTHERS    0x77 /* the lock: another client has it */
#define PEER_RKEY 0x5eed0001u
/* Not the real address of the memory, so that a program that uses it as a pointer fails. */
#define PEER_ADDRESS 0x7f00beef00000000ull

static struct fake_peer *torn_peers[FAKE_MAX_DEVICES];
static unsigned int n_torn;

/* ---- the program's requests, to the memory of its peer ---- */

static void message_written(struct fake_peer *peer, const struct fake_wr *wr);

/* The number of bytes that each side opens. */
static uint32_t size_of_memory(const struct fake_peer *peer)
{
	uint32_t words = fake_config->words ? fake_config->words : WORDS;

	return fake_config->counts && !peer->is_client ? words * sizeof(uint64_t) : peer->size;
}

/* The data of a message of a stream. What is read is that of the first. */
static void fill_pattern(uint8_t *data, uint32_t size, uint64_t message)
{
	uint64_t word = (message + 1) * 0x9e3779b97f4a7c15u;
	uint32_t i;

	for (i = 0; i < size; i += sizeof(word), word += 0xd1342543de82ef95u)
		memcpy(data + i, &word, size - i < sizeof(word) ? size - i : sizeof(word));
}

/* Where in the peer's memory the request begins; NULL: not permitted, and reported. */
static uint8_t *find_in_peer(const struct fake_peer *peer, const struct fake_wr *wr)
{
	uint64_t offset = wr->remote_address - PEER_ADDRESS;

	if (wr->rkey != PEER_RKEY || !peer->memory || offset > size_of_memory(peer) ||
	    wr->length > size_of_memory(peer) - offset) {
		fake_complain("a request reaches for memory that the peer has not offered");
		return NULL;
	}
	return peer->memory + offset;
}

/* The peer's host answers a READ, whatever the peer's program does. */
static void answer_read(struct fake_qp *qp, const struct fake_wr *wr, const uint8_t *from)
{
	struct fake_peer *peer = qp->id->peer;
	uint8_t *copy = fake_allocate(wr->length);

	memcpy(copy, from, wr->length);
	peer->received++;
	copy[fake_config->garbles_first ? 0 : wr->length - 1] ^= peer->received ==
								 fake_config->garbles;
	fake_scatter(wr, copy, wr->length);
	free(copy);
	fake_may_stop_program(peer);
	fake_server_may_leave(peer);
}

void fake_check_pattern(const uint8_t *data, uint32_t size, uint64_t message)
{
	uint8_t *wanted = fake_allocate(size);

	fill_pattern(wanted, size, message);
	if (memcmp(data, wanted, size))
		fake_complain("what is in memory is not message %llu", (unsigned long long)message);
	free(wanted);
}

/* A WRITE has no answer. */
static void note_write(struct fake_peer *peer)
{
	if (++peer->received > peer->count)
		fake_complain("the client writes more messages than it said");
	fake_may_stop_program(peer);
	fake_server_may_leave(peer);
}

/*
 * What other clients do to the lock, or to the guarded word, just before the program's
 * COMPARE_AND_SWAP.
 */
static void meddle(const struct fake_peer *peer, const struct fake_wr *wr, uint64_t *word)
{
	const uint64_t *words = (const uint64_t *)(const void *)peer->memory;
	static unsigned int tries;

	if (word == words + LOCK && wr->swap && fake_config->lock == FAKE_TAKEN)
		*word = tries++ < 5 ? OTHERS : 0;
	if (word == words + LOCK && wr->swap && fake_config->lock == FAKE_KEPT)
		*word = OTHERS;
	if (word == words + LOCK && !wr->swap && fake_config->lock == FAKE_STOLEN)
		*word = OTHERS;
	if (word == words + GUARDED && fake_config->lock == FAKE_IGNORED)
		++*word;
}

/*
 * The program takes the lock by a value that no other client has, and touches what it guards only
 * while it has it, unless it was robbed of it.
 */
static void check_lock(const struct fake_peer *peer, const struct fake_wr *wr, const uint64_t *word)
{
	const uint64_t *words = (const uint64_t *)(const void *)peer->memory;

	if (word == words + GUARDED && words[LOCK] != PEER_RKEY && fake_config->lock != FAKE_STOLEN)
		fake_complain("the program reaches for what the lock guards, and has no lock");
	if (word == words + LOCK && wr->swap && wr->swap != PEER_RKEY)
		fake_complain("the lock is to say 0x%llx, which is not the rkey of this client",
			      (unsigned long long)wr->swap);
}

/* Counting once is one FETCH_AND_ADD, with the lock or without it. */
static void do_atomic(struct fake_qp *qp, const struct fake_wr *wr, uint8_t *memory)
{
	struct fake_peer *peer = qp->id->peer;
	uint64_t was, is;

	check_lock(peer, wr, (uint64_t *)(void *)memory);
	if (wr->opcode == IBV_WC_COMP_SWAP)
		meddle(peer, wr, (uint64_t *)(void *)memory);
	memcpy(&was, memory, sizeof(was));
	is = wr->opcode == IBV_WC_FETCH_ADD ? was + wr->compare_add
	     : was == wr->compare_add       ? wr->swap
					    : was;
	memcpy(memory, &is, sizeof(is));
	if (wr->opcode == IBV_WC_FETCH_ADD)
		note_write(peer);
	if (fake_config->garbles && peer->received == fake_config->garbles)
		was -= 2;
	fake_scatter(wr, (const uint8_t *)&was, sizeof(was));
}

bool fake_carry_out(struct fake_qp *qp, const struct fake_wr *wr, const uint8_t *data)
{
	uint8_t *memory = find_in_peer(qp->id->peer, wr);

	if (!memory) {
		fake_complete_send(qp, IBV_WC_REM_ACCESS_ERR);
		return false;
	}
	if (qp->id->peer->wire->carry_out) {
		qp->id->peer->wire->carry_out(qp, wr, memory, data);
		return true;
	}
	if (fake_config->counts) {
		do_atomic(qp, wr, memory);
		return true;
	}
	if (wr->opcode == IBV_WC_RDMA_READ) {
		answer_read(qp, wr, memory);
		return true;
	}
	memcpy(memory, data, wr->length);
	if (fake_config->immediate && !wr->has_immediate)
		return true; /* the peer's program does not notice */
	if (fake_config->spins)
		message_written(qp->id->peer, wr);
	else if (fake_config->only_writes && fake_config->verified)
		fake_check_pattern(memory, qp->id->peer->size, qp->id->peer->received);
	if (!fake_config->spins && fake_config->only_writes)
		note_write(qp->id->peer);
	return true;
}

bool fake_check_request(const struct fake_qp *qp, const struct fake_wr *wr)
{
	bool read = wr->opcode == IBV_WC_RDMA_READ || fake_config->counts;

	if (read && fake_config->no_reads)
		fake_complain("ibv_post_send: a READ, although none were agreed upon");
	else if (read && !(wr->mr->access & IBV_ACCESS_LOCAL_WRITE))
		fake_complain("ibv_post_send: a READ into memory that the device may not write to");
	else if (read && fake_config->iwarp && !(wr->mr->access & IBV_ACCESS_REMOTE_WRITE))
		fake_complain("ibv_post_send: on iWARP a READ writes to its sink from afar");
	else
		return qp->pub.state != IBV_QPS_INIT;
	return false;
}

/* ---- the peer's requests, to the memory of the program ---- */

uint8_t *fake_find_in_program(const struct fake_peer *peer, uint32_t length, int access)
{
	const struct fake_qp *qp = fake_qp_of(peer->id);
	const struct fake_mr *mr = fake_find_remote_mr(peer->rkey);
	uint8_t *data = (uint8_t *)(uintptr_t)peer->address;

	if (qp && mr && mr->pd == qp->pd && (mr->access & access) == access &&
	    data >= (uint8_t *)mr->pub.addr && length <= peer->length &&
	    data + length <= (uint8_t *)mr->pub.addr + mr->pub.length)
		return data;
	fake_complain("the peer may not reach the memory that it was told of");
	return NULL;
}

/* The address that a client sends, although an agent has no use for it. */
static void tell_buffer(struct fake_peer *peer)
{
	uint64_t address = htobe64(PEER_ADDRESS);
	uint32_t length = size_of_memory(peer) - fake_config->short_by;
	uint32_t words[] = { htobe32(length), htobe32(PEER_RKEY) };
	uint8_t data[BUFFER_MESSAGE];

	if (!peer->memory)
		peer->memory = fake_allocate(size_of_memory(peer));
	if (fake_config->reads)
		fill_pattern(peer->memory, peer->size, 0);
	memcpy(data, &address, sizeof(address));
	memcpy(data + sizeof(address), words, sizeof(words));
	fake_tell(peer, data, sizeof(data));
}

static void hear_buffer(struct fake_peer *peer, const uint8_t *data)
{
	uint32_t wanted = fake_config->counts && peer->is_client ? WORDS * sizeof(uint64_t)
								 : peer->size;
	uint32_t words[2];

	memcpy(&peer->address, data, sizeof(peer->address));
	memcpy(words, data + sizeof(peer->address), sizeof(words));
	peer->address = be64toh(peer->address);
	peer->length = be32toh(words[0]);
	peer->rkey = be32toh(words[1]);
	peer->knows_buffer = true;
	if (peer->length != wanted)
		fake_complain("the program's buffer has %u bytes, not %u", peer->length, wanted);
}

void fake_tell_count(struct fake_peer *peer, uint64_t count)
{
	uint64_t data = htobe64(fake_config->short_count ? count << 32 : count);

	fake_tell(peer, (const uint8_t *)&data, sizeof(data));
}

static uint64_t count_in(const uint8_t *data)
{
	uint64_t count;

	memcpy(&count, data, sizeof(count));
	return be64toh(count);
}

void fake_begin_exchange(struct fake_peer *peer)
{
	fake_report->talks |= fake_config->talks;
	if (peer->is_client && !fake_config->wordless)
		tell_buffer(peer);
}

void fake_hear_exchange(struct fake_peer *peer, const uint8_t *data, uint32_t length)
{
	if (peer->knows_buffer) {
		if (fake_check_length(length, COUNT_MESSAGE))
			peer->wire->hear_count(peer, count_in(data));
		return;
	}
	if (!fake_check_length(length, BUFFER_MESSAGE))
		return;
	hear_buffer(peer, data);
	if (!peer->is_client)
		tell_buffer(peer);
	else if (peer->wire->start)
		peer->wire->start(peer);
}

void fake_overhear_exchange(struct fake_peer *peer, const uint8_t *data, uint32_t length)
{
	if (!peer->is_client && peer->knows_buffer && peer->wire->check_count &&
	    fake_check_length(length, COUNT_MESSAGE))
		peer->wire->check_count(peer, count_in(data));
}

void fake_check_closed(const struct fake_peer *peer)
{
	if (fake_find_remote_mr(peer->rkey))
		fake_complain("the memory is still open when the client has done with it");
}

bool fake_is_silent(const struct fake_peer *peer)
{
	return fake_config->silent_after && peer->received >= fake_config->silent_after;
}

bool fake_may_act(const struct fake_peer *peer)
{
	const struct fake_qp *qp;

	if (!peer->knows_buffer || peer->left || !peer->id->object.alive || fake_report->stopped)
		return false;
	qp = fake_qp_of(peer->id);
	return qp && qp->pub.state == IBV_QPS_RTS;
}

/* The memory that the program opens to its client must have these rights, and no others. */
static int access_wanted(void)
{
	if (fake_config->counts)
		return IBV_ACCESS_REMOTE_ATOMIC;
	if (fake_config->only_writes)
		return fake_config->reads ? IBV_ACCESS_REMOTE_READ : IBV_ACCESS_REMOTE_WRITE;
	return IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
}

/* A client that counts alone: each step, with the value that it must have found. */
static void count_in_program(uint64_t *words)
{
	uint64_t mark = 1;

	if (!fake_config->locks) {
		__atomic_fetch_add(words, 1, __ATOMIC_SEQ_CST);
		return;
	}
	if (fake_config->lock != FAKE_KEPT && words[LOCK])
		fake_complain("the lock is not free");
	__atomic_store_n(words + LOCK, mark, __ATOMIC_SEQ_CST);
	__atomic_fetch_add(words + GUARDED, 1, __ATOMIC_SEQ_CST);
	if (fake_config->lock != FAKE_KEPT)
		__atomic_store_n(words + LOCK, 0, __ATOMIC_SEQ_CST);
}

/* WRITEs, and READs the data back. Returns false if something has ended this. */
static bool ping_program(struct fake_peer *peer)
{
	uint8_t *memory = fake_find_in_program(peer, peer->size, access_wanted());

	if (!memory)
		return false;
	if (fake_config->counts)
		count_in_program((uint64_t *)(void *)memory);
	else if (fake_config->reads)
		fake_check_pattern(memory, peer->size, 0);
	else
		memset(memory, (int)(peer->sent + 1), peer->size);
	peer->sent++;
	peer->received++;
	fake_may_stop_program(peer);
	if (fake_has_quit(peer))
		fake_put_leave(peer);
	return !fake_has_quit(peer);
}

/*
 * Writes the last byte first: a program may rely on no order. The program polls these bytes without
 * a lock.
 */
static void store(struct fake_peer *peer, uint8_t *memory, uint32_t from, uint32_t end)
{
	while (end-- > from)
		__atomic_store_n(&memory[end], peer->memory[end], __ATOMIC_RELEASE);
}

/* Of a message that comes in two parts. */
static void store_half(struct fake_peer *peer, uint8_t *memory, bool first)
{
	uint32_t middle = peer->size / 2;

	store(peer, memory, first ? 0 : middle, first ? middle : peer->size);
}

static void finish_torn(struct fake_peer *peer)
{
	bool ended = peer->left || !fake_qp_of(peer->id);
	uint8_t *memory = ended ? NULL
				: fake_find_in_program(peer, peer->size, IBV_ACCESS_REMOTE_WRITE);

	peer->torn = false;
	if (memory)
		store_half(peer, memory, !fake_config->in_order);
}

/* Not in the poll that brings the first half: the program is to look at its memory before. */
void fake_finish_torn(void)
{
	static unsigned int n_due;
	unsigned int i;

	for (i = 0; i < n_due; i++)
		finish_torn(torn_peers[i]);
	n_torn -= n_due;
	memmove(torn_peers, torn_peers + n_due, n_torn * sizeof(torn_peers[0]));
	n_due = n_torn;
}

/* Half of the message may come later. */
void fake_write_now(struct fake_peer *peer)
{
	uint8_t *memory = fake_find_in_program(peer, peer->size, IBV_ACCESS_REMOTE_WRITE);
	uint32_t i;

	if (!memory)
		return;
	for (i = 0; i < peer->size && !fake_config->numbered; i++) {
		if (memory[i]) {
			fake_complain("a message comes, and the memory has not been cleared");
			return;
		}
	}
	peer->torn = n_torn < FAKE_MAX_DEVICES && (fake_config->late_sends || fake_chance(2));
	if (!peer->torn) {
		store(peer, memory, 0, peer->size);
		return;
	}
	store_half(peer, memory, fake_config->in_order);
	torn_peers[n_torn++] = peer;
}

/* WRITEs the contents of the peer's own memory. */
static void write_message(struct fake_peer *peer)
{
	uint64_t message = (peer->is_client ? peer->sent : peer->received) - 1;
	bool garbled = fake_config->garbles && fake_config->garbles == peer->received;

	if (fake_config->immediate) /* the last byte of the number is right */
		fake_put_immediate(peer, (uint32_t)message + (garbled ? 256 : 0));
	else if (fake_time_is_known())
		fake_put_place(peer);
	else
		fake_write_now(peer);
}

/* Not before: until then the program must not poll. */
void fake_place_message(struct fake_peer *peer)
{
	uint8_t *memory = fake_find_in_program(peer, peer->size, IBV_ACCESS_REMOTE_WRITE);

	if (memory)
		store(peer, memory, 0, peer->size);
}

/*
 * Bytes that are not zero, and that differ between messages. The last byte is the message's number.
 */
static uint8_t byte_of(const struct fake_peer *peer, uint64_t message, uint32_t i)
{
	return (uint8_t)(1 + (i + 1 == peer->size ? message : message * 31 + i * 7) % 255);
}

static void fill_memory(struct fake_peer *peer)
{
	uint32_t i;

	for (i = 0; i < peer->size; i++)
		peer->memory[i] = byte_of(peer, peer->sent, i);
	peer->sent++;
}

static void client_goes_on(struct fake_peer *peer)
{
	if (peer->sent == peer->count) {
		fake_tell_count(peer, peer->count);
		return;
	}
	if (fake_is_silent(peer)) {
		fake_raise(peer->id);
		return;
	}
	fill_memory(peer);
	write_message(peer);
}

/* The program has written to the peer's memory. */
static void message_written(struct fake_peer *peer, const struct fake_wr *wr)
{
	uint64_t message = peer->is_client ? peer->sent - 1 : peer->received;
	uint32_t i;

	if (wr->has_immediate && wr->immediate != (uint32_t)message)
		fake_complain("the immediate data of message %llu are %u",
			      (unsigned long long)message, wr->immediate);
	if (peer->memory[peer->size - 1] != byte_of(peer, message, peer->size - 1))
		fake_complain("the last byte of message %llu is not its number",
			      (unsigned long long)message);
	for (i = 0; i < peer->size; i++) {
		if (!peer->memory[i])
			fake_complain("a byte of a message is zero");
		if (peer->is_client && peer->memory[i] != byte_of(peer, message, i))
			fake_complain("message %llu came back changed",
				      (unsigned long long)message);
	}
	peer->received++;
	fake_may_stop_program(peer);
	if (peer->is_client && fake_has_quit(peer)) {
		fake_put_leave(peer);
	} else if (peer->is_client) {
		client_goes_on(peer);
	} else if (!fake_is_silent(peer)) {
		if (peer->received == fake_config->garbles && fake_config->garbles_first)
			peer->memory[0] = (uint8_t)(1 + peer->memory[0] % 255);
		else if (peer->received == fake_config->garbles)
			peer->memory[peer->size - 1] =
				(uint8_t)(1 + peer->memory[peer->size - 1] % 255);
		write_message(peer);
		fake_server_may_leave(peer);
	} else {
		fake_raise(peer->id);
	}
}

/* A client that WRITEs, READs or counts does all of it at once. */
static void start(struct fake_peer *peer)
{
	if (fake_config->spins) {
		client_goes_on(peer);
		return;
	}
	while (peer->sent < peer->count && !fake_is_silent(peer) && ping_program(peer))
		;
	if (peer->sent == peer->count && !fake_is_silent(peer) && !fake_has_quit(peer))
		fake_tell_count(peer, peer->count + fake_config->one_more);
	else if (fake_is_silent(peer))
		fake_raise(peer->id);
}

/* Each count is in one word or the other, and the lock is free. */
static void check_words(const struct fake_peer *peer)
{
	uint64_t words[WORDS] = { 0 };

	memcpy(words, peer->memory, size_of_memory(peer));
	if (words[0] + words[GUARDED] != peer->received)
		fake_complain("counted to %llu, in %llu messages",
			      (unsigned long long)(words[0] + words[GUARDED]),
			      (unsigned long long)peer->received);
	if (words[LOCK])
		fake_complain("the client has done, and holds the lock");
}

static void check_count(const struct fake_peer *peer, uint64_t count)
{
	if (count != (peer->is_client && !fake_config->spins ? 0 : peer->received))
		fake_complain("another count was told than that of the WRITEs and READs");
}

static void hear_count(struct fake_peer *peer, uint64_t count)
{
	check_count(peer, count);
	if (peer->is_client) {
		fake_check_closed(peer);
		fake_client_is_done(peer);
		return;
	}
	if (fake_config->counts)
		check_words(peer);
	fake_tell_count(peer, fake_config->spins ? peer->received : 0);
}

const struct fake_wire fake_one_sided_wire = {
	FAKE_EXCHANGE,
	.start = start,
	.hear_count = hear_count,
	.check_count = check_count,
};
