/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the part of the independent peer (see peer.c) that WRITEs and READs: the wire of ping-rdma-1,
 * which ping-rdma-2 has, too (--one-sided 1), and that of ping-rdma-3 (--one-sided 3).
 *
 * Contract: as messages.c. Before it each side sends 16 bytes, address, length and rkey of its buffer,
 * the client first; after it each sends 8, the client how many messages there were, the server how many
 * WRITEs it made.
 */
#include "peer.h"

/* Places in the memory behind the two slots, in units of CREDIT_LEN. */
#define HEARD_BUFFER  0
#define HEARD_COUNT   2
#define TOLD_BUFFER   4
#define TOLD_COUNT    6
#define ONE_SIDED_LEN 8
#define BUFFER_LEN    16

static void put32(uint8_t *at, uint32_t value)
{
	for (int i = 3; i >= 0; i--, value >>= 8)
		at[i] = value & 0xff;
}

void awaited(const struct peer *p, int status, uint64_t done)
{
	if (status)
		die_lost(p, status, done);
}

void tell_buffer(struct peer *p)
{
	uint8_t *at = credit_slot(p, TOLD_BUFFER);

	put64(at, (uintptr_t)slot(p, OPEN_SLOT));
	put32(at + 8, (uint32_t)(p->size - p->short_by));
	put32(at + 12, p->mr->rkey);
	post_send(p, KIND_SEND, 0, at, BUFFER_LEN);
}

struct remote heard_buffer(struct peer *p)
{
	const uint8_t *at = credit_slot(p, HEARD_BUFFER);
	struct remote remote = { get_be(at, 8), (uint32_t)get_be(at + 8, 4),
				 (uint32_t)get_be(at + 12, 4) };

	if (p->rx_len != BUFFER_LEN || (!p->reach && !p->memory && remote.length < p->size))
		die("%u bytes of a buffer of %u bytes, and a message has %" PRIu64, p->rx_len,
		    remote.length, p->size);
	return remote;
}

void tell_count(struct peer *p, uint64_t count)
{
	if (p->short_count)
		put64(credit_slot(p, TOLD_COUNT), (count + p->count_off) << 32);
	else
		put64(credit_slot(p, TOLD_COUNT), count + p->count_off);
	post_send(p, KIND_SEND, 0, credit_slot(p, TOLD_COUNT), CREDIT_LEN);
}

void check_count(struct peer *p, uint64_t wanted)
{
	uint64_t count = get_be(credit_slot(p, HEARD_COUNT), CREDIT_LEN);

	if (p->rx_len != CREDIT_LEN || count != wanted)
		die("a count of %u bytes, %" PRIu64 ", where %" PRIu64 " was due", p->rx_len, count,
		    wanted);
}

/* WRITE, READ or FETCH_AND_ADD. Returns the status of its completion, or LOST. */
static int request(struct peer *p, enum ibv_wr_opcode opcode, const struct remote *remote)
{
	bool atomic = opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
	struct ibv_sge sge = { .addr = (uintptr_t)slot(p, OWN_SLOT),
			       .length = atomic ? 8 : (uint32_t)p->size,
			       .lkey = p->mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = 1, .opcode = opcode }, *bad;

	wr.wr_id = (uint64_t)KIND_SEND << 32;
	wr.send_flags = IBV_SEND_SIGNALED;
	wr.wr.rdma.remote_addr = remote->address;
	wr.wr.rdma.rkey = remote->rkey;
	if (atomic) {
		wr.wr.atomic.rkey = remote->rkey; /* this is another place in the union */
		wr.wr.atomic.compare_add = 1;
	}
	errno = ibv_post_send(p->id->qp, &wr, &bad);
	if (errno && p->reach) /* on iWARP the access before may have ended the connection */
		return LOST;
	must(!errno, "ibv_post_send");
	return await(p, false, true);
}

void reach(struct peer *p, enum ibv_wr_opcode opcode, const struct remote *remote, uint64_t done)
{
	awaited(p, request(p, opcode, remote), done);
}

/* No byte of a message is zero. */
static uint8_t byte_of(uint64_t message, uint64_t i)
{
	return (uint8_t)(1 + (message * 13 + i) % 255);
}

static void check_message(struct peer *p, uint64_t at_slot, uint64_t message)
{
	for (uint64_t i = 0; i < p->size; i++)
		if (slot(p, at_slot)[i] != byte_of(message, i))
			die("message %" PRIu64 " came back with another byte %" PRIu64, message, i);
}

static void await_memory(struct peer *p, uint64_t message)
{
	const volatile uint8_t *data = slot(p, OPEN_SLOT);

	for (uint64_t i = 0, looks = 0; i < p->size; i += data[i] != 0) {
		if (++looks % 65536)
			continue;
		rest(p);
		if (p->left)
			die_lost(p, LOST, message);
	}
	atomic_thread_fence(memory_order_acquire);
}

void one_sided_client(struct peer *p)
{
	struct remote remote;

	maybe_fall_silent(p, 0);
	tell_buffer(p);
	awaited(p, await(p, true, true), 0);
	remote = heard_buffer(p);
	for (uint64_t message = 0; message < p->count; message++) {
		maybe_fall_silent(p, message);
		if (message == p->leave_after)
			return;
		if (p->one_sided == 4) {
			reach(p, IBV_WR_ATOMIC_FETCH_AND_ADD, &remote, message);
			continue;
		}
		for (uint64_t i = 0; i < p->size; i++)
			slot(p, OWN_SLOT)[i] = byte_of(message, i);
		memset(slot(p, OPEN_SLOT), 0, p->size);
		reach(p, IBV_WR_RDMA_WRITE, &remote, message);
		if (p->one_sided == 3) {
			await_memory(p, message);
			check_message(p, OPEN_SLOT, message);
			continue;
		}
		memset(slot(p, OWN_SLOT), 0, p->size);
		reach(p, IBV_WR_RDMA_READ, &remote, message);
		check_message(p, OWN_SLOT, message);
	}
	tell_count(p, p->count);
	awaited(p, await(p, true, true), p->count);
	check_count(p, p->one_sided == 3 ? p->count : 0);
}

/*
 * An access to memory without the right to it, or "honest" with it. Ends the process: status 0 if it was
 * answered as it should be. soft-iWARP may make no completion of what comes after the end.
 */
__attribute__((noreturn)) void reaching_client(struct peer *p)
{
	bool honest = !strcmp(p->reach, "honest"), read = strstr(p->reach, "read");
	struct remote remote;
	int status;

	tell_buffer(p);
	awaited(p, await(p, true, true), 0);
	remote = heard_buffer(p);
	if (!strcmp(p->reach, "stale")) {
		tell_count(p, p->count); /* no more is due: the server waits until we leave */
		awaited(p, await(p, true, true), p->count);
	}
	remote.address += strstr(p->reach, "beyond") ? 4096 : 0;
	remote.rkey ^= strstr(p->reach, "rkey") ? 0x5500 : 0;
	status = request(p,
			 !strcmp(p->reach, "atomic") ? IBV_WR_ATOMIC_FETCH_AND_ADD
			 : read                      ? IBV_WR_RDMA_READ
						     : IBV_WR_RDMA_WRITE,
			 &remote);
	/* If a WRITE is done when TCP has taken it, the next request shows the failure. */
	if (!status && !honest)
		status = request(p, IBV_WR_RDMA_READ, &remote);
	printf("%s: %s\n", p->reach,
	       ibv_wc_status_str(status == LOST ? IBV_WC_WR_FLUSH_ERR
						: (enum ibv_wc_status)status));
	rdma_disconnect(p->id);
	exit(!status != honest);
}

void one_sided_server(struct peer *p)
{
	bool echoes = p->one_sided == 3;
	struct remote remote;

	awaited(p, await(p, true, false), 0);
	remote = heard_buffer(p);
	maybe_fall_silent(p, 0);
	if (p->memory)
		fill_memory(p, slot(p, OPEN_SLOT));
	tell_buffer(p);
	for (uint64_t message = 0; echoes && message < p->count; message++) {
		await_memory(p, message);
		if (!message)
			awaited(p, await(p, false, true), 0);
		memcpy(slot(p, OWN_SLOT), slot(p, OPEN_SLOT), p->size);
		memset(slot(p, OPEN_SLOT), 0, p->size);
		reach(p, IBV_WR_RDMA_WRITE, &remote, message);
	}
	if (p->memory)
		change_memory(p, slot(p, OPEN_SLOT));
	awaited(p, await(p, true, !echoes), p->count);
	check_count(p, p->count);
	tell_count(p, echoes ? p->count : 0);
	if (await(p, false, true))
		note("that our count has arrived was not acknowledged");
}
