/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the question of probe.c about refusals of the connection manager: private data that are
 * one byte too long, and calls out of order.
 */
#include "probe.h"

static int error_of(int ret)
{
	return ret ? errno : 0;
}

static struct rdma_conn_param with_data(const struct ends *e, uint8_t length)
{
	static const char data[UINT8_MAX];
	struct rdma_conn_param param = e->param;

	param.private_data = data;
	param.private_data_len = length;
	return param;
}

static struct rdma_cm_id *next_request(struct ends *e)
{
	struct rdma_cm_event event;

	must(event_within(e->events, PATIENCE_MS, &event), "no event");
	must(event.event == RDMA_CM_EVENT_CONNECT_REQUEST, "no request");
	return event.id;
}

static void connect_with(struct ends *e, struct end *client, uint8_t length)
{
	struct rdma_conn_param param = with_data(e, length);

	told("rdma_connect with %u bytes: %s", length,
	     strerror(error_of(rdma_connect(client->id, &param))));
}

static void answer_with(struct ends *e, struct rdma_cm_id *id, uint8_t length)
{
	struct rdma_conn_param param = with_data(e, length);

	told("rdma_accept with %u bytes: %s", length, strerror(error_of(rdma_accept(id, &param))));
}

static void reject_with(struct rdma_cm_id *id, uint8_t length)
{
	static const char data[UINT8_MAX];

	told("rdma_reject with %u bytes: %s", length,
	     strerror(error_of(rdma_reject(id, data, length))));
}

/* Makes a client's id with its own channel, so that its events disturb nothing. */
static struct end new_client(struct ends *e)
{
	struct end client;

	equip(&client, "client",
	      resolve(rdma_create_event_channel(), rdma_get_local_addr(e->listener)), 0, false);
	return client;
}

static void tell_bind(struct ends *e, const struct sockaddr_in *to)
{
	struct rdma_cm_id *id;

	must(!rdma_create_id(e->events, &id, NULL, RDMA_PS_TCP), "rdma_create_id");
	told("rdma_bind_addr to a port that is taken: %s",
	     strerror(error_of(rdma_bind_addr(id, (struct sockaddr *)to))));
}

/* Makes a request, which is accepted with `length` bytes, and then calls out of order. */
static void tell_accept(struct ends *e, uint8_t length, bool succeeds)
{
	struct end client = new_client(e), server;
	struct rdma_cm_id *id;

	connect_with(e, &client, 0);
	id = next_request(e);
	equip(&server, "server", id, 0, false);
	answer_with(e, id, length);
	if (!succeeds)
		return;
	await_event(client.id->channel, RDMA_CM_EVENT_ESTABLISHED);
	await_event(e->events, RDMA_CM_EVENT_ESTABLISHED);
	answer_with(e, id, 0);
	connect_with(e, &client, 0);
	reject_with(id, 0);
}

void ask_terms(struct ends *e, int unused)
{
	struct sockaddr_in to = *(struct sockaddr_in *)rdma_get_local_addr(e->listener);
	bool iwarp = e->client.id->verbs->device->transport_type == IBV_TRANSPORT_IWARP;
	struct end client = new_client(e);
	struct rdma_cm_id *id;

	(void)unused;
	tell_bind(e, &to);
	if (!iwarp) /* a reject takes more */
		connect_with(e, &client, 57);
	client = new_client(e);
	connect_with(e, &client, 56);
	connect_with(e, &client, 0);
	id = next_request(e);
	if (!iwarp)
		reject_with(id, 149);
	reject_with(id, 148);
	reject_with(id, 0);
	answer_with(e, id, 0);
	told("server: rdma_disconnect after that: %s", strerror(error_of(rdma_disconnect(id))));
	await_event(client.id->channel, RDMA_CM_EVENT_REJECTED);
	told("client: rdma_disconnect after that: %s",
	     strerror(error_of(rdma_disconnect(client.id))));
	connect_with(e, &client, 0);
	if (!iwarp)
		tell_accept(e, 197, false);
	tell_accept(e, 196, true);
	client.id = resolve(rdma_create_event_channel(), (struct sockaddr *)&to);
	told("without a QP:");
	connect_with(e, &client, 0);
}
