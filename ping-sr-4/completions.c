/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-sr-4: waits for completions with a non-blocking completion channel, in one poll() with
 * everything else. All connections of a loop to one device share its channel. See channels.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "common/waiting.h"
#include "ping-sr-4/channels.h"

#define ACK_BATCH 64 /* an ack takes a lock, so one ack covers many events */

/* ---- Channels, one for each device ---- */

static int create_comp_channel(const struct our_config *config, struct ibv_context *verbs,
			       struct ibv_comp_channel **created)
{
	int ret = OUR_CREATE(*created, ibv_create_comp_channel(verbs));

	if (ret)
		return our_tell_error(config, "ibv_create_comp_channel", ret, NULL);
	if (!fcntl((*created)->fd, F_SETFL, O_NONBLOCK))
		return 0;
	ret = our_tell_error(config, "fcntl", errno, NULL);
	ibv_destroy_comp_channel(*created);
	*created = NULL;
	return ret;
}

/*
 * Finds or makes the channel for a CQ on the device of `control`. Returns 0 and *found, to be given to
 * put_comp_channel after the CQ is destroyed; or an errno value, reported.
 */
static int get_comp_channel(struct our_comp_channels *channels, const struct our_control *control,
			    struct our_shared_channel **found)
{
	const struct our_config *config = control->config;
	struct ibv_context *verbs = control->verbs;
	struct our_shared_channel *one, *end = channels->of + OUR_MAX_DEVICES;
	int ret = 0;

	*found = NULL;
	for (one = channels->of; one < end; one++) {
		if (!one->channel || one->channel->context == verbs)
			*found = one;
		if (one->channel && one->channel->context == verbs)
			break;
	}
	if (!*found)
		return our_tell_error(config, "our_create_cq", ENOSPC, "more than %u devices",
				      OUR_MAX_DEVICES);
	if (!(*found)->channel)
		ret = create_comp_channel(config, verbs, &(*found)->channel);
	if (!ret)
		(*found)->users++;
	return ret;
}

static void put_comp_channel(const struct our_config *config, struct our_shared_channel *channel)
{
	int ret;

	if (--channel->users)
		return;
	ret = OUR_CALL(ibv_destroy_comp_channel(channel->channel));
	if (ret)
		our_tell_error(config, "ibv_destroy_comp_channel", ret, NULL);
	channel->channel = NULL;
}

void our_list_comp_channels(const struct our_comp_channels *channels, struct pollfd *fds)
{
	const struct ibv_comp_channel *channel;
	size_t i;

	for (i = 0; i < OUR_MAX_DEVICES; i++) {
		channel = channels->of[i].channel;
		fds[i] = (struct pollfd){ .fd = channel ? channel->fd : -1, .events = POLLIN };
	}
}

/* ---- Waiting ---- */

int our_poll(const struct our_config *config, struct pollfd *fds, nfds_t n, uint64_t until_ns)
{
	struct timespec left;
	nfds_t i;

	if (ppoll(fds, n, our_time_until(until_ns, &left), NULL) >= 0)
		return 0;
	for (i = 0; i < n; i++)
		fds[i].revents = 0;
	return errno == EINTR ? 0 : our_tell_error(config, "ppoll", errno, NULL);
}

struct nonblocking {
	struct our_comp_channels own;       /* for a connection that waits by itself */
	struct our_shared_channel *channel; /* the CQ's: one of `own`, or one of the loop's */
	unsigned int events_to_ack;
	bool armed; /* the next completion will make an event */
};

void our_use_comp_channels(struct our_control *control, struct our_comp_channels *channels)
{
	our_private(control)->comp_channels = channels;
}

static int create_cq(struct our_control *control)
{
	struct nonblocking *state = calloc(1, sizeof(*state));
	int ret;

	if (!state)
		return our_tell_error(control->config, "calloc", ENOMEM, NULL);
	ret = get_comp_channel(our_private(control)->comp_channels
				       ? our_private(control)->comp_channels
				       : &state->own,
			       control, &state->channel); /* ibv_create_comp_channel */
	if (ret)
		goto err_free;
	ret = our_make_cq(control, state->channel->channel); /* ibv_create_cq */
	if (ret)
		goto err_put_comp_channel;
	our_private(control)->completion_state = state;
	return 0;

err_put_comp_channel:
	put_comp_channel(control->config, state->channel);
err_free:
	free(state);
	return ret;
}

static void destroy_cq(struct our_control *control)
{
	struct nonblocking *state = our_private(control)->completion_state;

	/* ibv_destroy_cq would wait forever for events that are not acked. */
	ibv_ack_cq_events(control->cq, state->events_to_ack);
	our_free_cq(control);
	put_comp_channel(control->config, state->channel);
	free(state);
}

/* The CQ has made its event: it is no longer armed, and the event must be acked. */
static void count_cq_event(struct our_control *control)
{
	struct nonblocking *state = our_private(control)->completion_state;

	state->armed = false;
	if (++state->events_to_ack == ACK_BATCH) {
		ibv_ack_cq_events(control->cq, state->events_to_ack);
		state->events_to_ack = 0;
	}
}

int our_take_cq_event(const struct our_config *config, const struct our_shared_channel *channel,
		      struct our_control **control)
{
	struct ibv_cq *cq;
	void *context;
	int ret = OUR_CALL(ibv_get_cq_event(channel->channel, &cq, &context));

	if (ret)
		return ret == EAGAIN ? ret : our_tell_error(config, "ibv_get_cq_event", ret, NULL);
	*control = context;
	count_cq_event(*control);
	return 0;
}

/*
 * Reads the event of the CQ. A loop that has the channel reads the events of all its CQs itself. A
 * channel of the connection's own is read here, or its descriptor would stay readable, and an
 * event loop that waits for it would never sleep again.
 */
static int take_event(struct our_control *control)
{
	struct nonblocking *state = our_private(control)->completion_state;
	struct our_control *same; /* the channel has only this CQ */

	if (our_private(control)->comp_channels)
		return EAGAIN;
	return our_take_cq_event(control->config, state->channel, &same);
}

/*
 * Drains the CQ, reads the event that the last arming has made, arms, and polls once more: only then
 * is it safe to wait for the next event.
 */
static int take(struct our_control *control)
{
	struct nonblocking *state = our_private(control)->completion_state;
	bool just_armed = false;
	int polled, ret;

	for (;;) {
		polled = our_poll_cq(control);
		if (polled)
			return polled > 0 ? 0 : -polled;
		if (just_armed)
			return EAGAIN;
		ret = state->armed ? take_event(control) : 0;
		if (ret)
			return ret; /* EAGAIN: the event is still to come */
		ret = OUR_CALL(ibv_req_notify_cq(control->cq, 0));
		if (ret)
			return our_tell_error(control->config, "ibv_req_notify_cq", ret, NULL);
		state->armed = just_armed = true;
	}
}

/* Sleeps until there is an event of the CQ, which take() reads, or something else to handle. */
static int wait_for_notification(struct our_control *control, bool *woken)
{
	struct nonblocking *state = our_private(control)->completion_state;
	struct pollfd fds[] = {
		{ .fd = state->channel->channel->fd, .events = POLLIN },
		{ .fd = our_cm_fd(control), .events = POLLIN },
		{ .fd = our_stop_fd(control->stop), .events = POLLIN },
	};
	int ret;

	control->counters.sleeps++;
	ret = our_poll(control->config, fds, 3, our_wake_up_ns(control));
	*woken = fds[0].revents;
	return ret || *woken ? ret : our_keep_waiting(control);
}

/* If the peer has left, polls once more: its last messages may be in the CQ before their event. */
static int await(struct our_control *control)
{
	bool woken = false;
	int ret, end = 0;

	for (;;) {
		ret = take(control);
		if (ret != EAGAIN)
			return ret;
		if (end)
			return end;
		control->counters.empty_wake_ups += woken;
		ret = wait_for_notification(control, &woken);
		if (ret && ret != ECONNRESET)
			return ret;
		end = ret;
	}
}

static int fd(const struct our_control *control)
{
	const struct nonblocking *state = our_private(control)->completion_state;

	return state->channel->channel->fd;
}

const struct our_completion_ops our_nonblocking_channel = {
	.name = "completion channel that does not block",
	.create_cq = create_cq,
	.destroy_cq = destroy_cq,
	.await = await,
	.take = take,
	.fd = fd,
};
