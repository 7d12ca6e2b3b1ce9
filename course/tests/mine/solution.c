/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A solution of mine.h, as short as it can be: one message is sent at a time. Each message has a
 * header with credits. See README.md.
 */
#include <endian.h>
#include <errno.h>
#include <poll.h>
#include <rdma/rdma_verbs.h>
#include <stdlib.h>
#include <string.h>

#include "course/mine/mine.h"

#define MAGIC         0x4d494e45 /* "MINE" */
#define CREDIT_RECVS  3          /* messages with credits alone that may be under way */
#define POLLS_A_LOOK  64
#define SHARED_ACCESS (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE)
#define SIZE          (sizeof(struct header) + MINE_LONGEST)
#define WR_RECV       (1ull << 32) /* wr_id of a receive, with the buffer's number */
#define DONE          1            /* wr_id of everything else: one at a time */

/* The private data of both sides. Big-endian; 28 bytes, as for a variant. */
struct __attribute__((packed)) hello {
	uint32_t magic, buffers;
	uint64_t address, length;
	uint32_t rkey;
};

/* The header in front of each message. Big-endian. */
struct header {
	uint32_t credits; /* credits for messages that the sender has taken */
	uint32_t has_data;
};

struct mine {
	struct rdma_cm_id *id;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_mr *mr, *shared, *copy_mr;
	struct mine_options options;
	struct hello peer; /* the peer's, in the host's byte order */
	uint8_t *buffers;  /* n_recvs to receive, and one to send from */
	uint32_t n_recvs, credits, owed;
	uint32_t *arrived, *lengths; /* buffers with messages that nobody has taken: a ring */
	uint32_t first, n_arrived;
	uint8_t copy[MINE_LONGEST]; /* used by get and put */
	unsigned int events;        /* CQ events not acknowledged */
	bool busy, armed;           /* a request has not completed; the CQ makes an event */
	int error;
};

struct mine_listener {
	struct rdma_cm_id *id;
};

static uint8_t *buffer(struct mine *mine, uint32_t index)
{
	return mine->buffers + index * SIZE;
}

static int post_recv(struct mine *mine, uint32_t index)
{
	return rdma_post_recv(mine->id, (void *)(uintptr_t)(WR_RECV | index), buffer(mine, index),
			      SIZE, mine->mr)
		       ? errno
		       : 0;
}

/* A message has arrived: keep it for mine_recv. One with credits alone is taken at once. */
static int take_message(struct mine *mine, uint32_t index, uint32_t length)
{
	struct header header;
	uint32_t last;

	if (length < sizeof(header))
		return EPROTO;
	memcpy(&header, buffer(mine, index), sizeof(header));
	mine->credits += be32toh(header.credits);
	if (mine->credits > mine->peer.buffers)
		return EPROTO;
	if (!header.has_data)
		return post_recv(mine, index);
	last = (mine->first + mine->n_arrived++) % mine->n_recvs;
	mine->arrived[last] = index;
	mine->lengths[last] = length - (uint32_t)sizeof(header);
	return 0;
}

/* Returns 0, EAGAIN if there is no completion, or an error, which ends the connection. */
static int take_completion(struct mine *mine)
{
	struct ibv_wc wc;
	int n = ibv_poll_cq(mine->cq, 1, &wc);

	if (n <= 0)
		return n ? EIO : EAGAIN;
	if (wc.status != IBV_WC_SUCCESS)
		return wc.status == IBV_WC_WR_FLUSH_ERR ? ECONNRESET : EIO;
	if (wc.wr_id & WR_RECV)
		return take_message(mine, (uint32_t)wc.wr_id, wc.byte_len);
	mine->busy = false;
	return 0;
}

/* Looks for the end of the connection; if asleep, waits for that or for a CQ event. */
static int look(struct mine *mine, bool asleep)
{
	struct pollfd fds[] = { { .fd = mine->id->channel->fd, .events = POLLIN },
				{ .fd = mine->channel->fd, .events = POLLIN } };
	struct ibv_cq *cq;
	void *context;

	if (poll(fds, asleep ? 2 : 1, asleep ? -1 : 0) <= 0)
		return 0;
	if (fds[1].revents) {
		if (ibv_get_cq_event(mine->channel, &cq, &context))
			return errno;
		mine->events++;
		mine->armed = false;
	}
	return fds[0].revents ? ECONNRESET : 0; /* no other event can come now */
}

/* Waits for one completion. What the peer sent before it left may be in the CQ: polls once more. */
static int await(struct mine *mine)
{
	unsigned int polls;
	int ret, end = 0;

	for (polls = 1; !mine->error; polls++) {
		ret = take_completion(mine);
		if (!ret)
			return 0;
		if (ret != EAGAIN || end) {
			mine->error = ret == EAGAIN ? end : ret;
		} else if (!mine->options.sleep) {
			end = polls % POLLS_A_LOOK ? 0 : look(mine, false);
		} else if (!mine->armed) { /* polls once more after this */
			mine->error = ibv_req_notify_cq(mine->cq, 0);
			mine->armed = true;
		} else {
			end = look(mine, true);
		}
	}
	return mine->error;
}

static int await_idle(struct mine *mine)
{
	int ret = mine->error;

	while (!ret && mine->busy)
		ret = await(mine);
	return ret;
}

/* Sends a header, with the credits that are owed, and data. */
static int send_message(struct mine *mine, const void *data, uint32_t length)
{
	struct header header = { .credits = htobe32(mine->owed), .has_data = data != NULL };
	uint8_t *message = buffer(mine, mine->n_recvs);

	memcpy(message, &header, sizeof(header));
	if (length)
		memcpy(message + sizeof(header), data, length);
	mine->owed = 0;
	mine->busy = true;
	if (rdma_post_send(mine->id, (void *)DONE, message, sizeof(header) + length, mine->mr,
			   IBV_SEND_SIGNALED))
		return mine->error = errno == ENOTCONN ? ECONNRESET : errno;
	return await_idle(mine);
}

int mine_send(struct mine *mine, const void *data, uint32_t length)
{
	int ret = mine->error;

	if (length > MINE_LONGEST)
		return EMSGSIZE;
	while (!ret && !mine->credits)
		ret = await(mine);
	if (ret)
		return ret;
	mine->credits--;
	return send_message(mine, data, length);
}

int mine_recv(struct mine *mine, void *data, uint32_t *length)
{
	uint32_t index;
	int ret = 0;

	while (!ret && !mine->n_arrived)
		ret = await(mine);
	if (ret)
		return ret;
	index = mine->arrived[mine->first];
	*length = mine->lengths[mine->first];
	memcpy(data, buffer(mine, index) + sizeof(struct header), *length);
	mine->first = (mine->first + 1) % mine->n_recvs;
	mine->n_arrived--;
	if (!mine->error) /* the message is good all the same: the next call reports an error */
		mine->error = post_recv(mine, index);
	if (!mine->error && ++mine->owed * 2 >= mine->options.buffers)
		send_message(mine, NULL, 0);
	return 0;
}

uint32_t mine_peer_buffers(const struct mine *mine)
{
	return mine->peer.buffers;
}

uint64_t mine_peer_length(const struct mine *mine)
{
	return mine->peer.length;
}

static int one_sided(struct mine *mine, uint64_t offset, uint32_t length, bool put)
{
	uint64_t address = mine->peer.address + offset;
	int ret;

	mine->busy = true;
	if (put)
		ret = rdma_post_write(mine->id, (void *)DONE, mine->copy, length, mine->copy_mr,
				      IBV_SEND_SIGNALED, address, mine->peer.rkey);
	else
		ret = rdma_post_read(mine->id, (void *)DONE, mine->copy, length, mine->copy_mr,
				     IBV_SEND_SIGNALED, address, mine->peer.rkey);
	if (ret)
		return mine->error = errno == ENOTCONN ? ECONNRESET : errno;
	return await_idle(mine);
}

static bool is_inside(const struct mine *mine, uint64_t offset, uint32_t length)
{
	return length <= mine->peer.length && offset <= mine->peer.length - length;
}

int mine_get(struct mine *mine, uint64_t offset, void *data, uint32_t length)
{
	uint32_t part;
	int ret = mine->error;

	if (!is_inside(mine, offset, length))
		return EINVAL;
	for (; !ret && length; length -= part, offset += part, data = (uint8_t *)data + part) {
		part = length < MINE_LONGEST ? length : MINE_LONGEST;
		ret = one_sided(mine, offset, part, false);
		if (!ret)
			memcpy(data, mine->copy, part);
	}
	return ret;
}

int mine_put(struct mine *mine, uint64_t offset, const void *data, uint32_t length)
{
	uint32_t part;
	int ret = mine->error;

	if (!is_inside(mine, offset, length))
		return EINVAL;
	for (; !ret && length;
	     length -= part, offset += part, data = (const uint8_t *)data + part) {
		part = length < MINE_LONGEST ? length : MINE_LONGEST;
		memcpy(mine->copy, data, part);
		ret = one_sided(mine, offset, part, true);
	}
	return ret;
}

static int make_queues(struct mine *mine)
{
	struct ibv_qp_init_attr attr = { .qp_type = IBV_QPT_RC };

	mine->n_recvs = mine->options.buffers + CREDIT_RECVS;
	mine->pd = ibv_alloc_pd(mine->id->verbs);
	mine->channel = ibv_create_comp_channel(mine->id->verbs);
	if (!mine->pd || !mine->channel)
		return errno;
	mine->cq = ibv_create_cq(mine->id->verbs, (int)mine->n_recvs + 1, NULL, mine->channel, 0);
	if (!mine->cq)
		return errno;
	attr.send_cq = attr.recv_cq = mine->cq;
	attr.cap = (struct ibv_qp_cap){
		.max_send_wr = 1, .max_recv_wr = mine->n_recvs, .max_send_sge = 1, .max_recv_sge = 1
	};
	return rdma_create_qp(mine->id, mine->pd, &attr) ? errno : 0;
}

static int make_memory(struct mine *mine)
{
	size_t length = (mine->n_recvs + 1) * SIZE;
	uint32_t i;
	int ret = 0;

	mine->buffers = calloc(1, length);
	mine->arrived = calloc(mine->n_recvs, sizeof(*mine->arrived));
	mine->lengths = calloc(mine->n_recvs, sizeof(*mine->lengths));
	if (!mine->buffers || !mine->arrived || !mine->lengths)
		return ENOMEM;
	mine->mr = ibv_reg_mr(mine->pd, mine->buffers, length, IBV_ACCESS_LOCAL_WRITE);
	/* On iWARP the peer's device writes what a READ brings: REMOTE_WRITE. */
	mine->copy_mr = ibv_reg_mr(mine->pd, mine->copy, sizeof(mine->copy),
				   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	if (!mine->mr || !mine->copy_mr)
		return errno;
	if (mine->options.memory) {
		mine->shared = ibv_reg_mr(mine->pd, mine->options.memory, mine->options.length,
					  SHARED_ACCESS);
		if (!mine->shared)
			return errno;
	}
	for (i = 0; !ret && i < mine->n_recvs; i++)
		ret = post_recv(mine, i);
	return ret;
}

/* Everything that a connection needs before it is made. Takes the id, also if it fails. */
static int prepare(struct rdma_cm_id *id, const struct mine_options *options, struct mine **result)
{
	struct mine *mine = calloc(1, sizeof(*mine));
	int ret;

	*result = mine;
	if (!mine) {
		rdma_destroy_ep(id);
		return ENOMEM;
	}
	mine->id = id;
	mine->options = *options;
	ret = make_queues(mine);
	return ret ? ret : make_memory(mine);
}

static struct rdma_conn_param what_to_say(const struct mine *mine, struct hello *hello)
{
	struct rdma_conn_param param = { .responder_resources = 1,
					 .initiator_depth = 1,
					 .retry_count = 6,
					 .rnr_retry_count = 7 };

	memset(hello, 0, sizeof(*hello));
	hello->magic = htobe32(MAGIC);
	hello->buffers = htobe32(mine->options.buffers);
	if (mine->shared) {
		hello->address = htobe64((uintptr_t)mine->options.memory);
		hello->length = htobe64(mine->options.length);
		hello->rkey = htobe32(mine->shared->rkey);
	}
	param.private_data = hello;
	param.private_data_len = sizeof(*hello);
	return param;
}

/* Reads the private data of the id's last event, before anything else. */
static int listen_to(const struct rdma_cm_event *event, struct hello *peer)
{
	struct hello hello;

	if (!event || event->param.conn.private_data_len < sizeof(hello))
		return EPROTO;
	memcpy(&hello, event->param.conn.private_data, sizeof(hello));
	peer->magic = be32toh(hello.magic);
	peer->buffers = be32toh(hello.buffers);
	peer->address = be64toh(hello.address);
	peer->length = be64toh(hello.length);
	peer->rkey = be32toh(hello.rkey);
	return peer->magic == MAGIC && peer->buffers && peer->buffers <= MINE_MOST ? 0 : EPROTO;
}

static int resolve(const char *address, const char *port, int flags, struct rdma_cm_id **id)
{
	struct rdma_addrinfo want = { .ai_flags = flags, .ai_port_space = RDMA_PS_TCP }, *info;
	int ret;

	if (rdma_getaddrinfo(address, port, &want, &info))
		return EHOSTUNREACH;
	ret = rdma_create_ep(id, info, NULL, NULL) ? errno : 0;
	rdma_freeaddrinfo(info);
	return ret;
}

int mine_connect(const char *address, const char *port, const struct mine_options *options,
		 struct mine **mine)
{
	struct rdma_conn_param param;
	struct rdma_cm_id *id;
	struct hello hello;
	int ret;

	ret = resolve(address, port, 0, &id);
	if (ret)
		return ret;
	ret = prepare(id, options, mine);
	if (!ret) {
		param = what_to_say(*mine, &hello);
		ret = rdma_connect(id, &param) ? errno : listen_to(id->event, &(*mine)->peer);
	}
	if (ret && *mine)
		mine_close(*mine);
	else if (!ret)
		(*mine)->credits = (*mine)->peer.buffers;
	return ret;
}

int mine_listen(const char *address, const char *port, struct mine_listener **listener)
{
	struct mine_listener *new = calloc(1, sizeof(*new));
	int ret;

	if (!new)
		return ENOMEM;
	ret = resolve(address, port, RAI_PASSIVE, &new->id);
	if (!ret && rdma_listen(new->id, 16)) {
		ret = errno;
		rdma_destroy_ep(new->id);
	}
	if (ret)
		free(new);
	else
		*listener = new;
	return ret;
}

void mine_stop_listening(struct mine_listener *listener)
{
	rdma_destroy_ep(listener->id);
	free(listener);
}

int mine_accept(struct mine_listener *listener, const struct mine_options *options,
		struct mine **mine)
{
	struct rdma_conn_param param;
	struct rdma_cm_id *id;
	struct hello hello, peer;
	int ret;

	if (rdma_get_request(listener->id, &id))
		return errno;
	ret = listen_to(id->event, &peer);
	if (ret) {
		rdma_reject(id, NULL, 0);
		rdma_destroy_ep(id);
		return ret;
	}
	ret = prepare(id, options, mine);
	if (!ret) {
		(*mine)->peer = peer;
		(*mine)->credits = peer.buffers;
		param = what_to_say(*mine, &hello);
		ret = rdma_accept(id, &param) ? errno : 0;
	}
	if (ret && *mine)
		mine_close(*mine);
	return ret;
}

/*
 * The peer's device has acknowledged each send, on RoCE; on iWARP TCP delivers what it has
 * taken.
 */
void mine_close(struct mine *mine)
{
	rdma_disconnect(mine->id);
	if (mine->id->qp)
		rdma_destroy_qp(mine->id);
	if (mine->cq) {
		ibv_ack_cq_events(mine->cq, mine->events);
		ibv_destroy_cq(mine->cq);
	}
	if (mine->channel)
		ibv_destroy_comp_channel(mine->channel);
	if (mine->mr)
		ibv_dereg_mr(mine->mr);
	if (mine->copy_mr)
		ibv_dereg_mr(mine->copy_mr);
	if (mine->shared)
		ibv_dereg_mr(mine->shared);
	if (mine->pd)
		ibv_dealloc_pd(mine->pd);
	rdma_destroy_ep(mine->id);
	free(mine->lengths);
	free(mine->arrived);
	free(mine->buffers);
	free(mine);
}
