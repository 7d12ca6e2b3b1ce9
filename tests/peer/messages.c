/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the middle part of the independent peer (see peer.c): completions, ping, blast, and the
 * disconnect that ends them.
 *
 * Contract: the role functions are called on an established connection
 * and return once the whole transfer is done; whatever fails ends the process with a sentence.
 */
#include "peer.h"

/*
 * Nothing is in the CQ: look whether the other end has left (a synchronous id has a channel too,
 * which may be looked at though not read) and, in event mode, sleep until something happens.
 */
void rest(struct peer *p)
{
	struct pollfd fds[2] = { { .fd = p->left ? -1 : p->id->channel->fd, .events = POLLIN },
				 { .fd = p->comp ? p->comp->fd : -1, .events = POLLIN } };
	struct ibv_cq *cq;
	void *context;

	must(poll(fds, 2, !p->comp ? 0 : p->left ? 20 : -1) >= 0, "poll");
	if (fds[0].revents && p->async)
		take_event(p);
	else if (fds[0].revents)
		mark_left(p);
	if (fds[1].revents) {
		must(!ibv_get_cq_event(p->comp, &cq, &context), "ibv_get_cq_event");
		p->cq_events++;
		p->armed = false;
	}
}

/* The next completion, or false if the other end left and none came within the grace. */
static bool next_wc(struct peer *p, struct ibv_wc *wc)
{
	for (unsigned int spins = 1;; spins++) {
		int n = ibv_poll_cq(p->cq, 1, wc);

		if (n < 0)
			die("ibv_poll_cq failed");
		if (n == 1)
			return true;
		if (p->comp && !p->armed) {
			errno = ibv_req_notify_cq(p->cq, 0);
			must(!errno, "ibv_req_notify_cq");
			p->armed = true;
			continue;
		}
		if (p->left && now_ms() - p->left_at > GRACE_MS)
			return false;
		if (p->comp || spins % 128 == 0)
			rest(p);
	}
}

__attribute__((noreturn)) void die_lost(const struct peer *p, int status, uint64_t done)
{
	if (status == LOST)
		die("the other end left after %" PRIu64 " of %" PRIu64 " messages", done, p->count);
	die("completion error \"%s\" (%d) after %" PRIu64 " of %" PRIu64 " messages%s",
	    ibv_wc_status_str(status), status, done, p->count,
	    p->left ? ", and the other end left" : "");
}

/*
 * All that had to arrive did, only the acknowledgement of our last sends is missing: a client
 * that exits at once may take it along, which is no failure of the transfer.
 */
static void last_send_lost(int status)
{
	note("the last send was not acknowledged: %s",
	     status == LOST ? "the other end left" : ibv_wc_status_str(status));
}

/* ---- ping ---- */

/* Waits for one completion of each kind in the set, in whichever order they come. */
int await(struct peer *p, bool recv, bool send)
{
	struct ibv_wc wc;

	while (recv || send) {
		bool *which;

		if (!next_wc(p, &wc))
			return LOST;
		if (wc.status != IBV_WC_SUCCESS)
			return (int)wc.status;
		which = wc.wr_id >> 32 == KIND_RECV ? &recv : &send;
		if (!*which)
			die("unexpected completion of wr %#" PRIx64, wc.wr_id);
		*which = false;
		if (wc.wr_id >> 32 == KIND_RECV)
			p->rx_len = wc.byte_len;
	}
	return 0;
}

static void check_length(const struct peer *p, uint32_t got)
{
	if (got != p->size)
		die("a message of %u bytes came where %" PRIu64 " were due", got, p->size);
}

static void fill(const struct peer *p, uint8_t *at, uint64_t message)
{
	uint64_t x = (message + 1) * 0x9e3779b97f4a7c15ull;

	for (uint64_t i = 0; i < p->size; i++) {
		x = x * 6364136223846793005ull + 1442695040888963407ull;
		at[i] = (uint8_t)(x >> 56);
	}
}

/* A message that was not announced: it is received all the same, and not echoed. */
static void send_one_more(struct peer *p)
{
	int status;

	post_send(p, KIND_SEND, 1, slot(p, 1), (uint32_t)p->size);
	status = await(p, false, true);
	if (status)
		die_lost(p, status, p->count);
}

static void end_silence(int sig)
{
	(void)sig;
	_exit(0);
}

/* Behaves as a program that hangs, and is killed at last. */
static void stay_longer(int sig)
{
	(void)sig;
	alarm(8);
}

/* Stays silent until --timeout is over, which then is no failure. */
static void fall_silent(void)
{
	signal(SIGALRM, end_silence);
	signal(SIGTERM, stay_longer);
	for (;;)
		poll(NULL, 0, -1);
}

void maybe_fall_silent(const struct peer *p, uint64_t done)
{
	if (done == p->silent_after)
		fall_silent();
}

/* Sends more than its share of the server's receives, until the server ends the connection. */
void greedy_client(struct peer *p)
{
	struct pollfd fds[] = { { .fd = p->id->channel->fd, .events = POLLIN },
				{ .fd = STDIN_FILENO, .events = POLLIN } };

	for (uint64_t i = 0; i < p->greedy; i++)
		if (try_send(p, KIND_SEND, 1, slot(p, 1), (uint32_t)p->size))
			break;
	puts("sent");
	fflush(stdout);
	maybe_fall_silent(p, 0);
	/* Stays until the connection ends, or whoever has started us says so by our stdin. */
	must(poll(fds, 2, -1) > 0, "poll");
}

/* The second half is outside the memory region: the send fails when the first half is on its way. */
void torn_client(struct peer *p)
{
	uint8_t *end = credit_slot(p, p->credit_slots);

	post_send(p, KIND_SEND, 1, end - p->size / 2, (uint32_t)p->size);
	if (!await(p, false, true))
		die("a message was sent from outside the memory region");
}

void ping_client(struct peer *p)
{
	for (uint64_t i = 0; i < p->count; i++) {
		int status;

		if (i == p->die_after)
			raise(SIGKILL);
		if (i == p->leave_after) {
			p->count = i;
			return;
		}
		maybe_fall_silent(p, i);
		if (i)
			post_recv(p, 0, false); /* the first was posted before connecting */
		fill(p, slot(p, 1), i);
		memset(slot(p, 0), 0xee, p->size);
		post_send(p, KIND_SEND, 1, slot(p, 1),
			  (uint32_t)(p->send_size ? p->send_size : p->size));
		status = await(p, true, true);
		if (status)
			die_lost(p, status, i);
		check_length(p, p->rx_len);
		if (memcmp(slot(p, 0), slot(p, 1), p->size))
			die("the echo of message %" PRIu64 " differs from what was sent", i);
	}
	maybe_fall_silent(p, p->count);
	if (p->one_more)
		send_one_more(p);
}

/*
 * The client sends again as soon as it has the echo, so the next receive, into the other of two
 * buffers, is posted before the echo is sent: iWARP has no RNR to forgive a late one.
 */
void ping_server(struct peer *p)
{
	int status;

	for (uint64_t i = 0; i < p->count; i++) {
		maybe_fall_silent(p, i);
		if (i == p->leave_after) {
			p->count = i;
			break;
		}
		status = await(p, true, i > 0);
		if (status)
			die_lost(p, status, i);
		check_length(p, p->rx_len);
		if (i + 1 < p->count)
			post_recv(p, (i + 1) % 2, false);
		post_send(p, KIND_SEND, i % 2, slot(p, i % 2), (uint32_t)p->size);
	}
	maybe_fall_silent(p, p->count);
	status = await(p, false, true);
	if (status)
		last_send_lost(status);
}

/* ---- blast ---- */

void blast_client(struct peer *p)
{
	uint64_t sent = 0, sent_done = 0, credited = 0;
	struct ibv_wc wc;

	while (credited < p->count || sent_done < sent) {
		uint64_t i, credit;

		if (sent >= p->leave_after) {
			p->count = sent;
			return;
		}
		if (sent >= p->silent_after)
			fall_silent();
		while (sent < p->count && sent - credited < p->n_buf &&
		       sent - sent_done < p->n_buf) {
			i = sent % p->n_buf;
			fill(p, slot(p, i), sent++);
			post_send(p, KIND_SEND, i, slot(p, i), (uint32_t)p->size);
		}
		if (p->sleep_ms && sent < p->count && sent - credited == p->n_buf)
			usleep((useconds_t)(1000 * p->sleep_ms));
		if (!next_wc(p, &wc))
			die_lost(p, LOST, credited);
		if (wc.status != IBV_WC_SUCCESS)
			die_lost(p, (int)wc.status, credited);
		i = wc.wr_id & 0xffffffff;
		if (wc.wr_id >> 32 == KIND_SEND) {
			sent_done++;
			continue;
		}
		if (wc.byte_len != CREDIT_LEN)
			die("a credit message of %u bytes instead of 8", wc.byte_len);
		credit = get_be(credit_slot(p, i), CREDIT_LEN);
		if (!credit || credit > sent - credited)
			die("a credit of %" PRIu64 " when %" PRIu64 " messages are uncredited",
			    credit, sent - credited);
		post_recv(p, i, true); /* post this receive before the credits are spent */
		credited += credit;
	}
}

static void send_credit(struct peer *p, uint64_t number, uint64_t pending)
{
	uint8_t *at = credit_slot(p, number % p->slots);

	put64(at, pending);
	post_send(p, KIND_CREDIT, number % p->slots, at, CREDIT_LEN);
}

void blast_server(struct peer *p)
{
	uint64_t got = 0, pending = 0, credits = 0, credits_done = 0;
	uint64_t batch = p->batch < p->n_buf ? p->batch : p->n_buf;
	struct ibv_wc wc = { 0 };

	while (got < p->count || pending || credits_done < credits) {
		int status = 0;

		maybe_fall_silent(p, got);
		if (pending && (pending >= batch || got == p->count) &&
		    credits - credits_done < p->slots) {
			send_credit(p, credits++, pending);
			pending = 0;
		}
		if (!next_wc(p, &wc))
			status = LOST;
		else if (wc.status != IBV_WC_SUCCESS)
			status = (int)wc.status;
		if (status && (got < p->count || pending))
			die_lost(p, status, got);
		if (status) {
			last_send_lost(status);
			break;
		}
		if (wc.wr_id >> 32 == KIND_CREDIT) {
			credits_done++;
			continue;
		}
		check_length(p, wc.byte_len);
		if (got++ == p->count)
			die("more than the announced %" PRIu64 " messages", p->count);
		post_recv(p, wc.wr_id & 0xffffffff, false);
		pending++;
	}
}

/* ---- the end ---- */

void disconnect(struct peer *p)
{
	int64_t start = now_ms();
	struct ibv_wc wc;

	must(!rdma_disconnect(p->id), "rdma_disconnect"); /* disconnect also if the peer has left */
	if (p->async) {
		while (!p->left && readable(p->channel->fd, DISCONNECT_MS))
			take_event(p);
		if (!p->left)
			note("no disconnected event within %d ms", DISCONNECT_MS);
	}
	if (now_ms() - start > 500)
		note("rdma_disconnect took %d ms", (int)(now_ms() - start));
	while (ibv_poll_cq(p->cq, 1, &wc) == 1)
		if (p->verbose && wc.status != IBV_WC_WR_FLUSH_ERR)
			note("after the disconnect, wr %#" PRIx64 ": %s", wc.wr_id,
			     ibv_wc_status_str(wc.status));
	if (p->verbose && readable(p->id->channel->fd, 0))
		note("an event is left over after the disconnect");
}
