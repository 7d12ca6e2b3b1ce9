/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Sleeps in io_uring_enter(2) until the completion channel or the connection is readable. This is
 * for programs whose loop is an io_uring already. ibv_get_cq_event(3) still reads the channel,
 * because only it knows which CQ an event is of. Built if liburing is there.
 */
#if __has_include(<liburing.h>)
#include <errno.h>
#include <liburing.h>
#include <poll.h>
#include <stdlib.h>

#include "common/waiting.h"
#include "ways/ways.h"

struct ring {
	struct our_comp_channel channel;
	struct io_uring ring;
	int fds[2]; /* the channel's, and the connection's or -1 */
};

/* A request ends when its descriptor is readable; it goes to the kernel with the next wait. */
static void ask(struct ring *ring, uint64_t which)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&ring->ring); /* one for each: never full */

	io_uring_prep_poll_add(sqe, ring->fds[which], POLLIN);
	io_uring_sqe_set_data64(sqe, which);
}

static int create_cq(struct our_control *control)
{
	struct ring *ring = calloc(1, sizeof(*ring));
	int ret;

	if (!ring)
		return our_tell_error(control->config, "calloc", ENOMEM, NULL);
	ret = -io_uring_queue_init(4, &ring->ring, 0);
	if (ret) {
		our_tell_error(control->config, "io_uring_queue_init", ret, NULL);
		goto err_free;
	}
	ret = our_create_comp_channel(control, &ring->channel); /* ibv_create_comp_channel */
	if (ret)
		goto err_exit_ring;
	ret = our_make_cq(control, ring->channel.channel); /* ibv_create_cq */
	if (ret)
		goto err_destroy_comp_channel;
	our_private(control)->completion_state = ring;
	return 0;

err_destroy_comp_channel:
	our_destroy_comp_channel(control, &ring->channel);
err_exit_ring:
	io_uring_queue_exit(&ring->ring);
err_free:
	free(ring);
	return ret;
}

static void destroy_cq(struct our_control *control)
{
	struct ring *ring = our_private(control)->completion_state;

	io_uring_queue_exit(&ring->ring); /* ends the requests, before their descriptors go */
	our_ack_events(control, &ring->channel);
	our_free_cq(control);
	our_destroy_comp_channel(control, &ring->channel);
	free(ring);
}

/* Takes the results, and makes the requests again. Returns whether the channel is readable. */
static bool take_answers(struct ring *ring)
{
	struct io_uring_cqe *cqe;
	bool readable = false;
	uint64_t which;

	while (!io_uring_peek_cqe(&ring->ring, &cqe)) {
		which = io_uring_cqe_get_data64(cqe);
		readable |= which == 0 && cqe->res > 0;
		io_uring_cqe_seen(&ring->ring, cqe);
		ask(ring, which);
	}
	return readable;
}

/* One system call hands over the requests and sleeps. */
static int sleep_in_ring(struct our_control *control, struct ring *ring)
{
	struct __kernel_timespec left, *limit = NULL;
	struct io_uring_cqe *cqe;
	struct timespec time;
	int ret;

	if (!ring->fds[0]) { /* the first time: in the thread that waits */
		ring->fds[0] = ring->channel.channel->fd;
		ring->fds[1] = our_cm_fd(control);
		ask(ring, 0);
		if (ring->fds[1] >= 0)
			ask(ring, 1);
	}
	if (our_time_until(our_wake_up_ns(control), &time)) {
		left = (struct __kernel_timespec){ .tv_sec = time.tv_sec, .tv_nsec = time.tv_nsec };
		limit = &left;
	}
	control->counters.sleeps++;
	ret = io_uring_submit_and_wait_timeout(&ring->ring, &cqe, 1, limit, NULL);
	if (ret < 0 && ret != -ETIME && ret != -EINTR)
		return our_tell_error(control->config, "io_uring_enter", -ret, NULL);
	return take_answers(ring) ? our_take_event(control, &ring->channel) : 0;
}

/* Drain, arm, poll once more, sleep: the order of ping-sr-3/completions.c. */
static int await(struct our_control *control)
{
	struct ring *ring = our_private(control)->completion_state;
	int polled, ret = 0;

	for (;;) {
		polled = our_poll_cq(control); /* ibv_poll_cq */
		if (polled)
			return polled > 0 ? 0 : -polled;
		if (ret)
			return ret;
		if (!ring->channel.armed) {
			ret = our_arm_cq(control, &ring->channel); /* ibv_req_notify_cq */
			continue;
		}
		ret = sleep_in_ring(control, ring); /* io_uring_enter, ibv_get_cq_event */
		if (!ret)
			ret = our_keep_waiting(control);
	}
}

const struct our_completion_ops our_uring_channel = {
	.name = "completion channel in io_uring",
	.create_cq = create_cq,
	.destroy_cq = destroy_cq,
	.await = await,
};
#endif
