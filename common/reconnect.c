/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A client whose connection has broken connects anew: which ends may pass, how long it waits before
 * each attempt, and what it sends again. See our_control.h.
 */
#include <errno.h>
#include <poll.h>
#include <sys/random.h>

#include "common/private.h"

#define FIRST_MS 50
#define MOST_MS  2000
#define BRIEF_MS 200

/* RoCE and InfiniBand pad the private data with zeros. */
static bool says_nothing(const struct our_cm_event *event)
{
	size_t i;

	for (i = 0; i < event->private_data_length; i++) {
		if (event->private_data[i])
			return false;
	}
	return true;
}

bool our_may_pass(const struct our_control *client, int error)
{
	if (our_stop_requested(client->stop))
		return false;
	switch (error) {
	case ECONNABORTED:
	case ECONNREFUSED:
	case EPIPE:
	case ETIMEDOUT:
	case EHOSTUNREACH:
	case ENETUNREACH:
	case EADDRINUSE:
	case EADDRNOTAVAIL:
	case EBUSY:
		return true;
	case ECONNRESET:
		return !client->complete;
	case ENODEV:
		return client->ended != ENODEV;
	case EACCES:
		return client->cm_event.type == RDMA_CM_EVENT_REJECTED &&
		       says_nothing(&client->cm_event);
	default:
		return false;
	}
}

/* The whole pause is random: clients that lost the same server would come back together. */
unsigned int our_pause_ms(const struct our_reconnect *how)
{
	uint64_t first_ms = how->first_ms ? how->first_ms : FIRST_MS;
	uint64_t most_ms = how->most_ms ? how->most_ms : MOST_MS;
	uint64_t limit_ms = how->failed < 32 ? first_ms << how->failed : most_ms;
	uint32_t number;

	if (limit_ms > most_ms)
		limit_ms = most_ms;
	if (getrandom(&number, sizeof(number), GRND_NONBLOCK) != sizeof(number))
		number = (uint32_t)our_now_ns();
	return (unsigned int)(number % (limit_ms + 1));
}

/* Returns 0: it is time for the next attempt; EINTR; or EHOSTDOWN: the limit comes first. */
static int pause_before(const struct our_control *client, const struct our_reconnect *how,
			uint64_t limit_ns)
{
	uint64_t until_ns = our_now_ns() + our_pause_ms(how) * OUR_NS_PER_MS;
	struct pollfd stop = { .fd = our_stop_fd(client->stop), .events = POLLIN };

	if (until_ns > limit_ns)
		return EHOSTDOWN;
	while (our_now_ns() < until_ns && !our_stop_requested(client->stop))
		poll(&stop, 1, our_ms_until(until_ns));
	return our_stop_requested(client->stop) ? EINTR : 0;
}

/*
 * Nothing of the connection outlives its id, as librdmacm closes a device that was removed with the
 * last id of it. The peer is told, and its answer is not awaited: the peer may be dead.
 */
static void take_down(struct our_control *client)
{
	if (client->cm_id)
		our_start_disconnect(client);
	our_destroy_qp(client);
	our_deregister_buffers(client);
	our_unsetup_qp(client);
	our_destroy_id(client);
	client->accepted = false;
	client->verbs = NULL;
}

static int set_up(struct our_control *client, const struct our_reconnect *how)
{
	uint32_t max_send_wr = client->max_send_wr - our_extra_sends(client);
	int ret;

	ret = our_create_id(client);
	if (ret)
		return ret;
	ret = our_client_bind(client, how->server);
	if (!ret && client->device)
		ret = our_use_device(client, client->device);
	if (!ret)
		ret = our_setup_qp(client, max_send_wr, client->max_recv_wr);
	if (!ret)
		ret = our_register_buffers(client);
	if (!ret)
		ret = how->connect(client);
	return ret;
}

/* In order, as the peer's program has to see them. */
static int repeat_unconfirmed(struct our_control *client, struct our_reconnect *how)
{
	uint64_t number, next = how->next;
	int ret = 0;

	for (number = how->confirmed; number < next && !ret; number++)
		ret = how->repeat(client, number);
	return ret;
}

int our_reconnect(struct our_control *client, struct our_reconnect *how, int error)
{
	uint64_t limit_ns = our_end_of_wait(how->limit_s);
	bool brief = how->stood_ns && our_now_ns() < how->stood_ns + BRIEF_MS * OUR_NS_PER_MS;
	int ret;

	/* A connection that breaks at once is an attempt in vain: the next one may, too. */
	how->failed = brief ? how->failed + 1 : 0;
	while (our_may_pass(client, error)) {
		ret = client->device ? our_device_take_async_events(client->device) : 0;
		if (ret)
			return ret; /* a shared device that is gone does not come back */
		take_down(client);
		ret = pause_before(client, how, limit_ns);
		if (ret)
			return ret;
		error = set_up(client, how);
		if (!error) {
			how->stood_ns = our_now_ns();
			error = repeat_unconfirmed(client, how);
		}
		if (!error)
			return 0;
		how->failed++;
		if (client->accepted) /* it stood, and has broken again */
			limit_ns = our_end_of_wait(how->limit_s);
	}
	return our_stop_requested(client->stop) ? EINTR : error;
}
