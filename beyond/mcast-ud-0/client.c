/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * mcast-ud-0/client: joins a group, and says which of its messages are missing. Read main first.
 */
#define NAME "mcast-ud-0/client"
#include <poll.h>
#include <unistd.h>

#include "group.h"

#define RECEIVES   64
#define SILENCE_MS 5000

/* Returns how many messages are missing before this one. */
static uint64_t gap(uint64_t expected, uint64_t number)
{
	uint64_t missing = number - expected;

	if (missing)
		printf("missing: %" PRIu64 ", from number %" PRIu64 " on\n", missing, expected);
	return missing;
}

/* Sleeps until there is a message. */
static int await_message(struct rdma_cm_id *id)
{
	struct pollfd readable = { .fd = id->recv_cq_channel->fd, .events = POLLIN };
	struct ibv_cq *cq;
	void *context;

	if (poll(&readable, 1, SILENCE_MS) <= 0)
		return failed("poll", ETIMEDOUT, "the group is silent");
	if (ibv_get_cq_event(id->recv_cq_channel, &cq, &context))
		return failed("ibv_get_cq_event", errno, "");
	ibv_ack_cq_events(cq, 1);
	return 0;
}

/* Takes the next message's number, and posts its receive again. EAGAIN: there is no message yet. */
static int take_message(struct member *member, uint64_t *number)
{
	struct ibv_wc wc;
	uint8_t *slot;
	int n;

	do {
		n = ibv_poll_cq(member->id->recv_cq, 1, &wc);
		if (!n)
			return EAGAIN;
		if (n < 0 || wc.status)
			return failed("receive", EIO, n < 0 ? "" : ibv_wc_status_str(wc.status));
		slot = (uint8_t *)(uintptr_t)wc.wr_id;
		memcpy(number, slot + GRH, sizeof(*number));
		if (rdma_post_recv(member->id, slot, slot, SLOT, member->mr))
			return failed("rdma_post_recv", errno, "");
	} while (wc.byte_len != GRH + sizeof(*number)); /* skips other programs' messages */
	return 0;
}

/* The first message may have any number, because a member sees only what is sent from now on. */
static int listen_to_group(struct member *member)
{
	uint64_t number, expected = 0, came = 0, missing = 0, late = 0;
	int ret = 0;

	while (!ret) {
		ret = ibv_req_notify_cq(member->id->recv_cq, 0);
		while (!ret && !(ret = take_message(member, &number)) && number != LAST) {
			if (number < expected) {
				late++;
				continue;
			}
			missing += came ? gap(expected, number) : 0;
			expected = number + 1;
			came++;
		}
		if (!ret)
			break; /* the last message has come */
		if (ret == EAGAIN)
			ret = await_message(member->id);
	}
	printf("%" PRIu64 " messages, %" PRIu64 " missing", came, missing);
	if (late)
		printf(", %" PRIu64 " late or twice", late);
	printf("\n");
	return ret;
}

static int run(struct member *member, struct sockaddr *own)
{
	uint8_t *slot;
	int ret;

	ret = create_id(member, own);
	if (!ret)
		ret = create_qp(member, RECEIVES);
	for (slot = member->memory; !ret && slot < member->memory + RECEIVES * SLOT; slot += SLOT) {
		if (rdma_post_recv(member->id, slot, slot, SLOT, member->mr))
			ret = failed("rdma_post_recv", errno, "");
	}
	if (!ret)
		ret = join_group(member);
	if (ret)
		return ret;
	fprintf(stderr, NAME ": joined\n");
	return listen_to_group(member);
}

int main(int argc, char **argv)
{
	struct addrinfo *own = argc == 3 ? look_up(argv[2]) : NULL;
	struct addrinfo *group = own ? look_up(argv[1]) : NULL;
	struct member member = { .id = NULL };
	int ret = 2;

	if (argc != 3)
		fprintf(stderr, "usage: " NAME " GROUP OWN-ADDRESS\n");
	if (group) {
		member.address = group->ai_addr;
		ret = run(&member, own->ai_addr) ? 1 : 0;
		destroy_member(&member);
		freeaddrinfo(group);
	}
	if (own)
		freeaddrinfo(own);
	if (fflush(stdout))
		ret = failed("stdout", errno, "") ? 1 : 0;
	return ret;
}
