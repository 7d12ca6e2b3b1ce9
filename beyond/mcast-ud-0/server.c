/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * mcast-ud-0/server: sends numbered messages to a group, once for all members, and does not know
 * whether there are any. Read main first.
 */
#define NAME "mcast-ud-0/server"
#include <stdbool.h>
#include <unistd.h>

#include "group.h"

static int send_number(struct member *member, struct ibv_ah *ah, uint64_t number)
{
	struct rdma_cm_id *id = member->id;
	struct ibv_wc wc;

	memcpy(member->memory, &number, sizeof(number));
	if (rdma_post_ud_send(id, NULL, member->memory, sizeof(number), member->mr, 0, ah,
			      member->group.qp_num))
		return failed("rdma_post_ud_send", errno, "");
	if (rdma_get_send_comp(id, &wc) < 0)
		return failed("rdma_get_send_comp", errno, "");
	return wc.status ? failed("send", EIO, ibv_wc_status_str(wc.status)) : 0;
}

static int send_all(struct member *member, uint64_t count, unsigned int pause_us)
{
	struct ibv_ah *ah = ibv_create_ah(member->id->pd, &member->group.ah_attr);
	uint64_t number = 0;
	int i, ret = 0;

	if (!ah)
		return failed("ibv_create_ah", errno, "");
	while (number < count && !ret) {
		ret = send_number(member, ah, number);
		number += !ret;
		usleep(pause_us);
	}
	for (i = 0; i < 3 && !ret; i++) /* the last message may be lost, too */
		ret = send_number(member, ah, LAST);
	ibv_destroy_ah(ah);
	printf("%" PRIu64 " messages sent\n", number);
	return ret;
}

/* Reads a number that has only digits. */
static bool read_number(const char *text, uint64_t *value)
{
	*value = strtoull(text, NULL, 10);
	return *text && strspn(text, "0123456789") == strlen(text);
}

int main(int argc, char **argv)
{
	struct addrinfo *own = argc > 2 ? look_up(argv[2]) : NULL;
	struct addrinfo *group = own ? look_up(argv[1]) : NULL;
	struct member member = { .id = NULL };
	uint64_t count = 1000, pause_us = 1000;
	int ret = 2;

	if (argc < 3 || argc > 5 || (argc > 3 && !read_number(argv[3], &count)) ||
	    (argc > 4 && (!read_number(argv[4], &pause_us) || pause_us >= 1000000))) {
		fprintf(stderr, "usage: " NAME " GROUP OWN-ADDRESS [COUNT [PAUSE-US]]\n");
	} else if (group) {
		member.address = group->ai_addr;
		ret = create_id(&member, own->ai_addr);
		if (!ret)
			ret = create_qp(&member, 1);
		if (!ret)
			ret = join_group(&member);
		if (!ret)
			ret = send_all(&member, count, (unsigned int)pause_us);
		ret = ret ? 1 : 0;
		destroy_member(&member);
	}
	if (group)
		freeaddrinfo(group);
	if (own)
		freeaddrinfo(own);
	if (fflush(stdout))
		ret = failed("stdout", errno, "") ? 1 : 0;
	return ret;
}
