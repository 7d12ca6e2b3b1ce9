/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: fake verbs, how librdmacm makes and ends connections. Contract: as in the man pages; where
 * soft-RoCE and soft-iWARP differ (docs/drivers.md), as the one in config. Reports what works only
 * by chance: no receive posted, no retries.
 */
#include <errno.h>
#include <string.h>

#include "tests/fake/limits.h"

#define MAX_CONNECT_DATA 56
#define MAX_ACCEPT_DATA  196
#define MAX_REJECT_DATA  148
#define REPEATED_S       5 /* a lost disconnect request has been repeated by then */

/*
 * Sends the event that the call causes. If config wants another event instead, sends that one and
 * returns false.
 */
static bool turns_out(struct fake_id *id, const struct fake_fault *fault,
		      enum rdma_cm_event_type expected)
{
	if (fake_config->deaf && expected == RDMA_CM_EVENT_ESTABLISHED)
		return false;
	if (fault->has_event)
		fake_send_event(id, fault->event, fault->status, NULL, 0);
	else if (id->state == FAKE_ROUTE)
		return fake_answer(id);
	else
		fake_send_event(id, expected, 0, NULL, 0);
	return !fault->has_event;
}

static int check_state(const struct fake_id *id, enum fake_cm_state state, const char *call)
{
	if (!fake_use(&id->object, call))
		return EINVAL;
	if (id->state != state)
		fake_complain("%s: id %u is not in the state for it", call, id->object.number);
	return id->state == state ? 0 : EINVAL;
}

/* Nobody answers: the request is repeated until its time is over. */
static void wait_in_vain(const struct fake_fault *fault, int timeout_ms)
{
	const struct timespec time = { .tv_sec = timeout_ms / 1000,
				       .tv_nsec = timeout_ms % 1000 * 1000000 };

	if (fault->has_event && fault->status == -ETIMEDOUT)
		fake_skip_time(&time);
}

int rdma_resolve_addr(struct rdma_cm_id *pub, struct sockaddr *from, struct sockaddr *to,
		      int timeout_ms)
{
	struct fake_fault fault = fake_begin("rdma_resolve_addr");
	struct fake_id *id = fake_of(struct fake_id, pub);

	(void)from;
	if (!fault.error)
		fault.error = check_state(id, FAKE_IDLE, "rdma_resolve_addr");
	if (fault.error)
		return fake_end_rdma(fault.error);
	memcpy(&pub->route.addr.dst_storage, to,
	       to->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6)
					 : sizeof(struct sockaddr_in));
	pub->route.addr.src_addr.sa_family = to->sa_family;
	wait_in_vain(&fault, timeout_ms);
	if (turns_out(id, &fault, RDMA_CM_EVENT_ADDR_RESOLVED))
		fake_give_device(id);
	return fake_end_rdma(fake_wait_if_sync(id));
}

int rdma_resolve_route(struct rdma_cm_id *pub, int timeout_ms)
{
	struct fake_fault fault = fake_begin("rdma_resolve_route");
	struct fake_id *id = fake_of(struct fake_id, pub);

	if (!fault.error)
		fault.error = check_state(id, FAKE_ADDR, "rdma_resolve_route");
	if (fault.error)
		return fake_end_rdma(fault.error);
	wait_in_vain(&fault, timeout_ms);
	turns_out(id, &fault, RDMA_CM_EVENT_ROUTE_RESOLVED);
	return fake_end_rdma(fake_wait_if_sync(id));
}

static void check_depths(const struct fake_id *id, const struct rdma_conn_param *param,
			 const char *call)
{
	bool accepts = id->state != FAKE_ROUTE;
	uint8_t respond = accepts ? id->peer->initiator_depth : UINT8_MAX;
	uint8_t initiate = accepts ? id->peer->responder_resources : UINT8_MAX;

	if ((respond && !param->responder_resources) || (initiate && !param->initiator_depth))
		fake_complain("%s: some devices refuse a depth of 0", call);
	if (param->responder_resources > respond || param->initiator_depth > initiate)
		fake_complain("%s: a depth above what the client offered", call);
}

/* Checks what both sides must have done before they are connected. */
static int check_ready(struct fake_id *id, const struct rdma_conn_param *param, size_t max_data,
		       const char *call)
{
	struct fake_qp *qp = fake_qp_of(id);

	if (!qp || (!fake_receives_of(qp)->n && !fake_config->short_pool))
		fake_complain("%s: no receive is posted", call);
	if (id->state == FAKE_ROUTE && !param->retry_count)
		fake_complain("%s: no retries", call);
	if (param->retry_count > 6)
		fake_complain("%s: soft-RoCE takes more than 6 retries forever", call);
	if (!param->rnr_retry_count)
		fake_complain("%s: no retries where there is no receive", call);
	check_depths(id, param, call);
	if (param->private_data_len && !param->private_data)
		fake_complain("%s: no private data, and their length is %u", call,
			      param->private_data_len);
	if (param->private_data_len <= max_data)
		return fake_check_depths(param);
	fake_complain("%s: %u bytes of private data", call, param->private_data_len);
	return EINVAL;
}

/*
 * If the fault says so, the peer or the device leaves as soon as the connection is made. Returns
 * whether one does.
 */
static bool lose_peer(struct fake_id *id, const struct fake_fault *fault)
{
	if (!fault->peer_leaves && !fault->device_leaves)
		return false;
	fake_strikes();
	if (fault->peer_leaves)
		fake_put_leave(id->peer);
	else
		fake_device_leaves(id);
	return true;
}

static void set_connected(struct fake_id *id)
{
	struct fake_qp *qp = fake_qp_of(id);

	id->state = FAKE_CONNECTED;
	if (qp)
		qp->pub.state = IBV_QPS_RTS;
}

/*
 * The server gives up before it learns that the client has accepted. The kernel then has no
 * connection any more; librdmacm flushes the QP when the program gets the event.
 */
static void take_back(struct fake_id *id)
{
	if (!fake_config->takes_back)
		return;
	id->taken_back = id->told_gone = true;
	id->state = FAKE_PEER_LEFT;
	id->peer->left = true;
	fake_send_event(id, RDMA_CM_EVENT_REJECTED, 28, NULL, 0);
}

int rdma_connect(struct rdma_cm_id *pub, struct rdma_conn_param *param)
{
	struct fake_fault fault = fake_begin("rdma_connect");
	struct fake_id *id = fake_of(struct fake_id, pub);

	if (!fault.error)
		fault.error = check_state(id, FAKE_ROUTE, "rdma_connect");
	if (!fault.error)
		fault.error = check_ready(id, param, MAX_CONNECT_DATA, "rdma_connect");
	if (fault.error)
		return fake_end_rdma(fault.error);
	if (turns_out(id, &fault, RDMA_CM_EVENT_ESTABLISHED)) {
		set_connected(id);
		fake_server_answers(id, param);
		lose_peer(id, &fault);
		take_back(id);
	}
	return fake_end_rdma(fake_wait_if_sync(id));
}

/* The client's first message may arrive before the event that says that it is connected. */
static void accept_peer(struct fake_id *id, const struct fake_fault *fault)
{
	bool message_first = fake_chance(2);

	if (fault->has_event) {
		turns_out(id, fault, RDMA_CM_EVENT_ESTABLISHED);
		id->state = FAKE_CLOSED;
		id->peer->left = true;
		return;
	}
	set_connected(id);
	if (message_first)
		fake_put_begin(id->peer);
	turns_out(id, fault, RDMA_CM_EVENT_ESTABLISHED);
	if (!lose_peer(id, fault) && !message_first)
		fake_put_begin(id->peer);
}

int rdma_accept(struct rdma_cm_id *pub, struct rdma_conn_param *param)
{
	struct fake_fault fault = fake_begin("rdma_accept");
	struct fake_id *id = fake_of(struct fake_id, pub);

	if (!fault.error)
		fault.error = check_state(id, FAKE_REQUESTED, "rdma_accept");
	if (!fault.error)
		fault.error = check_ready(id, param, MAX_ACCEPT_DATA, "rdma_accept");
	if (fault.error)
		return fake_end_rdma(fault.error);
	accept_peer(id, &fault);
	return fake_end_rdma(fake_wait_if_sync(id));
}

int rdma_reject(struct rdma_cm_id *pub, const void *data, uint8_t length)
{
	struct fake_fault fault = fake_begin("rdma_reject");
	struct fake_id *id = fake_of(struct fake_id, pub);

	fake_hear_refusal(data, length);
	fake_report->refused_late = !fake_any_other(id);
	if (length > MAX_REJECT_DATA)
		fake_complain("rdma_reject: %u bytes of private data", length);
	/*
	 * The peer has left, or cannot be connected: it needs no refusal. The program only learns
	 * this from the call's error.
	 */
	if (!fault.error && fake_use(&id->object, "rdma_reject") && id->state != FAKE_REQUESTED)
		fault.error = EINVAL;
	if (!fault.error) {
		id->state = FAKE_CLOSED;
		fake_peer_leaves(id->peer);
	}
	return fake_end_rdma(fault.error);
}

void fake_device_leaves(struct fake_id *id)
{
	struct fake_qp *qp = fake_qp_of(id);

	if (qp)
		fake_flush(qp);
	id->state = FAKE_CLOSED;
	id->told_gone = true;
	id->device_gone = true;
	id->peer->left = true;
	fake_send_event(id, RDMA_CM_EVENT_DEVICE_REMOVAL, 0, NULL, 0);
	/*
	 * Without a CM only the device itself can tell. After its last word a program may say that
	 * its peer is silent, too.
	 */
	if (id->line && !fake_report->last_word)
		fake_raise_of(id->pub.verbs, IBV_EVENT_DEVICE_FATAL, NULL);
}

void fake_tell_gone(struct fake_id *id)
{
	id->told_gone = true;
	if (id->line) {
		fake_hang_up(id->line);
		return;
	}
	if (fake_config->timewait)
		fake_send_event(id, RDMA_CM_EVENT_TIMEWAIT_EXIT, 0, NULL, 0);
	fake_send_event(id, RDMA_CM_EVENT_DISCONNECTED, 0, NULL, 0);
}

static int disconnect(struct fake_id *id)
{
	bool was_connected = id->state == FAKE_CONNECTED;
	struct fake_qp *qp = fake_qp_of(id);

	if (id->device_gone)
		return ENXIO;
	if (id->taken_back)
		return EINVAL;
	/* On RoCE a second call is no error in the kernel. */
	if (id->disconnected && !fake_config->iwarp)
		return 0;
	if (!was_connected && id->state != FAKE_PEER_LEFT)
		return EINVAL;
	id->disconnected = fake_report->disconnects = true;
	if (qp)
		fake_flush(qp);
	/*
	 * On iWARP the connection ends when the peer ends it; on RoCE the program has to end it,
	 * too.
	 */
	if (!was_connected && fake_config->iwarp)
		return EINVAL;
	id->state = FAKE_CLOSED;
	if (!id->told_gone && !fake_config->mute)
		fake_tell_gone(id);
	if (id->peer)
		fake_peer_leaves(id->peer);
	return 0;
}

/*
 * The peer's answer comes too late, and then its end. A thread that reads the channel takes both
 * before the program goes on.
 */
void fake_give_up(struct fake_id *id)
{
	bool first = !id->given_up, hope = true;

	id->its_thread = pthread_self();
	id->given_up = true;
	if (first && fake_config->answers_late) {
		fake_send_event(id, RDMA_CM_EVENT_ESTABLISHED, 0, NULL, 0);
		fake_send_event(id, RDMA_CM_EVENT_DISCONNECTED, 0, NULL, 0);
		fake_pump();
		while (hope && (id->unacked || !STAILQ_EMPTY(&id->channel->queue)))
			hope = fake_await_change();
	}
}

int rdma_disconnect(struct rdma_cm_id *pub)
{
	struct fake_fault fault = fake_begin("rdma_disconnect");
	struct fake_id *id = fake_of(struct fake_id, pub);
	int error = EINVAL;

	/* Who gives up may destroy the id at any time. */
	if (id->given_up && !pthread_equal(id->its_thread, pthread_self()))
		fake_complain("rdma_disconnect: another thread has given up id %u",
			      id->object.number);
	if (fake_report->one_file && !fake_report->stopped && fake_alarm_s() < REPEATED_S)
		fake_complain("rdma_disconnect: it gives up before a lost request is repeated");
	if (fake_use(&id->object, "rdma_disconnect"))
		error = disconnect(id);
	if (!error && !fault.error)
		error = fake_wait_if_sync(id);
	return fake_end_rdma(fault.error ? fault.error : error);
}
