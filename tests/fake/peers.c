/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: fake verbs, the other end of each connection. Contract: a client or server that follows
 * docs/protocol.md and checks every byte, unless config says otherwise. Its messages pass through
 * wire.c.
 */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "common/addresses.h"
#include "tests/fake/state.h"

static LIST_HEAD(peer_list, fake_peer) peers;

/* Bytes that differ between messages, and between positions. */
static void fill(const struct fake_peer *peer, uint64_t message, uint8_t *data)
{
	uint32_t i;

	for (i = 0; i < peer->size; i++)
		data[i] = (uint8_t)(message * 31 + i * 7 + (i >> 8));
}

void fake_tell(struct fake_peer *peer, const uint8_t *data, uint32_t length)
{
	uint64_t last = peer->silent_after;

	if (peer->stays)
		return;
	if (!last || peer->received < last)
		fake_put_message(peer, data, length);
	else if (last == fake_config->silent_after)
		fake_raise(peer->id);
}

void fake_say(struct fake_peer *peer, uint64_t message)
{
	uint8_t *data = fake_allocate(peer->size);

	fill(peer, message, data);
	fake_tell(peer, data, peer->size);
	free(data);
}

/* A device can send and receive at the same time: messages arrive while the QP is about to fail. */
void fake_overtake(struct fake_peer *peer, struct fake_qp *qp)
{
	uint8_t *data = fake_allocate(peer->size);
	uint32_t i;

	for (i = 0; i < fake_config->overtake; i++) {
		fill(peer, peer->sent++, data);
		if (!fake_receive(qp, data, peer->size))
			fake_complain("a message met no receive on QP %u", qp->object.number);
	}
	free(data);
}

/* A client has received everything. */
void fake_client_is_done(struct fake_peer *peer)
{
	peer->done = true;
	if (!fake_config->lingers)
		fake_put_leave(peer);
}

bool fake_has_quit(const struct fake_peer *peer)
{
	return fake_config->quits_after && peer->received >= fake_config->quits_after;
}

/* To be called when a peer has received a message, before it answers. */
void fake_may_stop_program(const struct fake_peer *peer)
{
	if (fake_config->stops_after && peer->received == fake_config->stops_after)
		fake_stop_program();
}

/* A server has received one more message, and has answered. */
void fake_server_may_leave(struct fake_peer *peer)
{
	if (peer->received == fake_config->leaves_after)
		fake_put_leave(peer);
}

/* Reports an error unless the data is that of the message: a program must not change it. */
static void check_data(const struct fake_peer *peer, uint64_t message, const uint8_t *data)
{
	uint8_t *wanted = fake_allocate(peer->size);

	fill(peer, message, wanted);
	if (memcmp(data, wanted, peer->size))
		fake_complain("message %llu came back changed", (unsigned long long)message);
	free(wanted);
}

bool fake_check_length(uint32_t length, uint32_t wanted)
{
	if (length != wanted && !fake_report->example)
		fake_complain("the peer got a message of %u bytes, wanted %u", length, wanted);
	return length == wanted;
}

/* ---- ping ---- */

static void ping_begin(struct fake_peer *peer)
{
	uint32_t first = fake_config->ahead ? fake_config->ahead : 1;

	while (peer->is_client && first--)
		fake_say(peer, peer->sent++);
}

static void ping_client_hears(struct fake_peer *peer, const uint8_t *data, uint32_t length)
{
	if (!fake_check_length(length, peer->size))
		return;
	check_data(peer, peer->received++, data);
	fake_may_stop_program(peer);
	fake_may_close_tcp(peer);
	if (fake_has_quit(peer)) {
		fake_put_leave(peer);
		return;
	}
	if (peer->received < peer->count + fake_config->one_more)
		fake_say(peer, peer->sent++);
	if (peer->received == peer->count)
		fake_client_is_done(peer);
}

static void send_back(struct fake_peer *peer, const uint8_t *data, uint32_t length)
{
	uint8_t *copy = fake_allocate(length);

	memcpy(copy, data, length);
	copy[fake_config->garbles_first ? 0 : length - 1] ^= peer->received == fake_config->garbles;
	fake_tell(peer, copy, length);
	free(copy);
}

static void ping_hear(struct fake_peer *peer, const uint8_t *data, uint32_t length)
{
	if (peer->is_client) {
		ping_client_hears(peer, data, length);
		return;
	}
	if (!fake_check_length(length, peer->size))
		return;
	peer->received++;
	fake_may_stop_program(peer);
	fake_may_close_tcp(peer);
	send_back(peer, data, length);
	fake_server_may_leave(peer);
}

static const struct fake_wire ping_wire = { .begin = ping_begin, .hear = ping_hear };

/* ---- blast ---- */

static void send_credits(struct fake_peer *peer, uint64_t credits)
{
	uint64_t data = htobe64(credits);

	fake_tell(peer, (const uint8_t *)&data, sizeof(data));
}

/* Sends messages as long as the agent has receives for them. */
static void stream(struct fake_peer *peer)
{
	uint64_t all = peer->count + fake_config->one_more;

	if (fake_has_quit(peer))
		return;
	for (; peer->credits && peer->sent < all; peer->credits--)
		fake_say(peer, peer->sent++);
}

static void blast_begin(struct fake_peer *peer)
{
	peer->credits = peer->buffers;
	if (peer->is_client && !fake_config->stranger)
		stream(peer);
}

void fake_take_credits(struct fake_peer *peer, uint64_t credits)
{
	peer->received += credits;
	if (!credits || peer->received > peer->sent)
		fake_complain("credits for messages that were not sent");
	peer->credits += credits;
	fake_may_stop_program(peer);
	if (fake_has_quit(peer))
		fake_put_leave(peer);
	if (peer->received == peer->count)
		fake_client_is_done(peer);
}

static void blast_client_hears(struct fake_peer *peer, const uint8_t *data, uint32_t length)
{
	uint64_t credits;

	if (!fake_check_length(length, sizeof(credits)))
		return;
	memcpy(&credits, data, sizeof(credits));
	credits = be64toh(credits);
	if (fake_config->stranger) {
		fake_stranger_hears(peer, credits);
		return;
	}
	fake_take_credits(peer, credits);
	if (!peer->done)
		stream(peer);
}

void fake_strangers_move(void)
{
	struct fake_peer *peer;

	for (peer = LIST_FIRST(&peers); fake_config->stranger && peer;
	     peer = LIST_NEXT(peer, all)) {
		if (peer->is_client)
			fake_stranger_moves(peer);
	}
}

/*
 * Returns credits as late as possible: half of them when the client has none left, and all that are
 * left at the end.
 */
static void return_credits(struct fake_peer *peer)
{
	uint64_t returned;

	if (!peer->credits)
		fake_complain("the client sent more than it had credits for");
	else
		peer->credits--;
	if (peer->credits && peer->received < peer->count)
		return;
	returned = peer->received < peer->count ? (peer->buffers + 1) / 2
						: peer->buffers - peer->credits;
	send_credits(peer, returned);
	peer->credits += returned;
	peer->returned += returned;
}

#define REST_LOOKS 100 /* empty polls */

void fake_return_rest(void)
{
	struct fake_peer *peer;
	uint64_t rest;

	for (peer = LIST_FIRST(&peers); fake_config->blast && fake_config->returns_rest && peer;
	     peer = LIST_NEXT(peer, all)) {
		rest = peer->received - peer->returned;
		peer->looks = rest ? peer->looks + 1 : 0;
		if (peer->looks < REST_LOOKS)
			continue;
		send_credits(peer, rest);
		peer->credits += rest;
		peer->returned += rest;
	}
}

static void blast_hear(struct fake_peer *peer, const uint8_t *data, uint32_t length)
{
	if (peer->is_client) {
		blast_client_hears(peer, data, length);
		return;
	}
	if (!fake_check_length(length, peer->size))
		return;
	if (fake_config->verified)
		fake_check_pattern(data, peer->size, peer->received);
	peer->received++;
	fake_may_stop_program(peer);
	if (!fake_config->withholds)
		return_credits(peer);
	else if (peer->received == peer->count)
		send_credits(peer, peer->count);
	fake_server_may_leave(peer);
}

static const struct fake_wire blast_wire = { .begin = blast_begin, .hear = blast_hear };

/* ---- coming and going ---- */

static struct fake_peer *new_peer(bool is_client)
{
	/*
	 * One client READs and does not serve READs, the next one the other way round: the program
	 * must distinguish them.
	 */
	static const uint8_t depths[4][2] = { { 1, 0 }, { 0, 1 }, { 16, 4 }, { 4, 16 } };
	struct fake_peer *peer = fake_allocate(sizeof(*peer));

	peer->is_client = is_client;
	peer->count = fake_config->count + (fake_config->uneven ? 10 * fake_report->peers : 0);
	if (fake_config->idle)
		peer->count = 0;
	peer->stays = fake_config->stays && !fake_report->peers;
	peer->silent_after =
		fake_config->silent_after + fake_report->peers * fake_config->silent_later;
	peer->size = fake_config->size + fake_report->peers * fake_config->grows;
	peer->buffers = fake_config->buffers;
	peer->initiator_depth = depths[fake_report->peers % 4][0];
	peer->responder_resources = depths[fake_report->peers % 4][1];
	peer->wire = fake_config->blast ? &blast_wire : &ping_wire;
	if (fake_config->one_sided)
		peer->wire = fake_config->publishes ? &fake_record_wire
			     : fake_config->talks   ? &fake_talk_wire
						    : &fake_one_sided_wire;
	if (fake_config->one_sided && is_client && !peer->initiator_depth)
		peer->initiator_depth = 1; /* this one READs */
	LIST_INSERT_HEAD(&peers, peer, all);
	fake_report->peers++;
	fake_report->serves |= is_client;
	return peer;
}

struct fake_peer *fake_new_server(void)
{
	return new_peer(false);
}

static struct fake_id *first_listener;
static unsigned int arrived; /* clients, but not those that replace others */

static void arrive(struct fake_id *listener)
{
	struct fake_peer *peer = new_peer(true);
	uint8_t data[FAKE_PRIVATE_DATA];
	size_t length = fake_connect_data(peer, data);

	if (listener->listens_by_tcp) {
		fake_client_connects(peer);
		return;
	}
	listener->peer = peer;
	fake_send_event(listener, RDMA_CM_EVENT_CONNECT_REQUEST, 0, data, length);
	listener->peer = NULL;
}

/* With config.in_turn: others come when one has ended. */
static void next_arrive(void)
{
	unsigned int n;

	for (n = fake_config->in_turn; n && arrived < fake_config->clients; n--, arrived++)
		arrive(first_listener);
}

/*
 * A request has ended and was not accepted. In a flood of requests the next one is there already.
 * Otherwise, if the server then lacks clients, another one comes, but only once; the next time a
 * signal tells the server to stop.
 */
void fake_request_ends(struct fake_peer *peer)
{
	unsigned int enough = fake_config->enough ? fake_config->enough : fake_config->clients;
	const struct fake_peer *other;
	static bool replaced;

	if (first_listener->object.alive)
		next_arrive();
	if (peer->accepted || !first_listener->object.alive)
		return;
	if (fake_config->flood) {
		arrive(first_listener);
		return;
	}
	for (other = LIST_FIRST(&peers); other; other = LIST_NEXT(other, all))
		enough -= other != peer && (other->accepted || !other->left) && enough;
	if (!enough)
		return;
	if (replaced || fake_config->no_other)
		fake_stop_program();
	else
		arrive(first_listener);
	replaced = true;
}

/*
 * A server that listens on any address has two listeners; half of the clients come to the second
 * one.
 */
unsigned int fake_clients_arrive(struct fake_id *listener)
{
	unsigned int first = fake_config->in_turn ? 1u + fake_config->stays : fake_config->clients;
	unsigned int wanted = first, before = arrived;
	static unsigned int listeners;

	if (!first_listener)
		first_listener = listener;
	if (!listeners++ && our_is_any_address(&listener->pub.route.addr.src_addr))
		wanted = (wanted + 1) / 2;
	for (; arrived < wanted; arrived++)
		arrive(listener);
	return arrived - before;
}

/* The values in the client's private data; without private data, those that the runner gave. */
void fake_server_answers(struct fake_id *id, const struct rdma_conn_param *param)
{
	struct fake_peer *peer = new_peer(false);

	id->peer = peer;
	peer->id = id;
	if (!param->private_data_len)
		return;
	fake_hear_connect_data(peer, param);
	peer->wire = fake_config->one_sided ? peer->wire : peer->buffers ? &blast_wire : &ping_wire;
	fake_put_begin(peer);
}

/* The program has ended the connection. For a server this should be the last step. */
void fake_peer_leaves(struct fake_peer *peer)
{
	if (!peer->is_client && !fake_config->talks)
		peer->done = peer->received == peer->count;
	peer->left = true;
}

struct fake_peer *fake_first_peer(void)
{
	return LIST_FIRST(&peers);
}

void fake_count_done(void)
{
	const struct fake_peer *peer;

	fake_report->done = 0;
	for (peer = LIST_FIRST(&peers); peer; peer = LIST_NEXT(peer, all))
		fake_report->done += peer->done;
}
