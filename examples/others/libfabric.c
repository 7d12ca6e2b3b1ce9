/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The echo on libfabric, with an FI_EP_MSG endpoint of its verbs provider, asleep in poll(2) on the
 * descriptors of the completion queue (CQ) and of the event queue (EQ): fi_cm(3), fi_poll(3).
 */
#include <poll.h>
#include <string.h>

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>

#include "echo.h"

struct end {
	struct fid_fabric *fabric;
	struct fid_eq *eq;
	struct fid_domain *domain;
	struct fid_cq *cq;
	struct fid_ep *ep;
	struct fid_mr *mr;    /* the buffers' */
	struct pollfd fds[2]; /* the CQ's, and the EQ's */
};

static void ok(ssize_t ret, const char *call)
{
	must(ret >= 0, call, fi_strerror((int)-ret));
}

static struct fi_info *get_info(const char *address, const char *port, uint64_t flags)
{
	struct fi_info *hints = fi_allocinfo(), *info;

	must(hints, "fi_allocinfo", "no memory");
	hints->caps = FI_MSG;
	hints->ep_attr->type = FI_EP_MSG;
	hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED |
				      FI_MR_PROV_KEY;
	hints->fabric_attr->prov_name = strdup("verbs");
	ok(fi_getinfo(FI_VERSION(1, 17), address, port, flags, hints, &info), "fi_getinfo");
	fi_freeinfo(hints);
	return info;
}

static void open_fabric(struct end *end, struct fi_info *info)
{
	struct fi_eq_attr attr = { .wait_obj = FI_WAIT_FD };

	ok(fi_fabric(info->fabric_attr, &end->fabric, NULL), "fi_fabric");
	ok(fi_eq_open(end->fabric, &attr, &end->eq, NULL), "fi_eq_open");
}

static void recv_into(struct end *end, size_t buffer)
{
	ok(fi_recv(end->ep, buffers[buffer], MAX_SIZE, fi_mr_desc(end->mr), 0, NULL), "fi_recv");
}

static void send_from(struct end *end, size_t buffer, size_t size)
{
	ok(fi_send(end->ep, buffers[buffer], size, fi_mr_desc(end->mr), 0, NULL), "fi_send");
}

/* Opens the endpoint, and posts a receive into the buffer before the peer can send. */
static void open_endpoint(struct end *end, struct fi_info *info, size_t buffer)
{
	struct fi_cq_attr attr = { .format = FI_CQ_FORMAT_MSG, .wait_obj = FI_WAIT_FD };

	ok(fi_domain(end->fabric, info, &end->domain, NULL), "fi_domain");
	ok(fi_cq_open(end->domain, &attr, &end->cq, NULL), "fi_cq_open");
	ok(fi_mr_reg(end->domain, buffers, sizeof(buffers), FI_SEND | FI_RECV, 0, 0, 0, &end->mr,
		     NULL),
	   "fi_mr_reg");
	ok(fi_endpoint(end->domain, info, &end->ep, NULL), "fi_endpoint");
	ok(fi_ep_bind(end->ep, &end->eq->fid, 0), "fi_ep_bind");
	ok(fi_ep_bind(end->ep, &end->cq->fid, FI_SEND | FI_RECV), "fi_ep_bind");
	ok(fi_enable(end->ep), "fi_enable");
	recv_into(end, buffer);
	end->fds[0].events = end->fds[1].events = POLLIN;
	ok(fi_control(&end->cq->fid, FI_GETWAIT, &end->fds[0].fd), "FI_GETWAIT");
	ok(fi_control(&end->eq->fid, FI_GETWAIT, &end->fds[1].fd), "FI_GETWAIT");
}

static struct fi_info *await_event(struct end *end, uint32_t expected)
{
	struct fi_eq_cm_entry entry;
	uint32_t event = 0;

	ok(fi_eq_sread(end->eq, &event, &entry, sizeof(entry), -1, 0), "fi_eq_sread");
	must(event == expected, "fi_eq_sread", "another event than expected");
	return entry.info;
}

/* Sleeps until there is a completion. Returns false if the peer has left. */
static bool await_completion(struct end *end, struct fi_cq_msg_entry *completion)
{
	struct fid *fids[] = { &end->cq->fid, &end->eq->fid };
	struct fi_eq_cm_entry entry;
	uint32_t event;
	ssize_t ret;

	while ((ret = fi_cq_read(end->cq, completion, 1)) == -FI_EAGAIN) {
		if (fi_eq_read(end->eq, &event, &entry, sizeof(entry), 0) != -FI_EAGAIN)
			return false;                               /* FI_SHUTDOWN, or an error */
		if (fi_trywait(end->fabric, fids, 2) == FI_SUCCESS) /* arms the CQ */
			poll(end->fds, 2, -1);
	}
	return ret == 1;
}

static void close_end(struct end *end)
{
	struct fid *fids[] = { &end->ep->fid,     &end->mr->fid, &end->cq->fid,
			       &end->domain->fid, &end->eq->fid, &end->fabric->fid };
	size_t i;

	fi_shutdown(end->ep, 0);
	for (i = 0; i < sizeof(fids) / sizeof(fids[0]); i++)
		ok(fi_close(fids[i]), "fi_close");
}

void server(const char *address, const char *port)
{
	struct fi_info *own = get_info(address, port, FI_SOURCE), *request;
	struct fi_cq_msg_entry completion;
	struct fid_pep *listener;
	struct end end;
	size_t buffer = 0;

	open_fabric(&end, own);
	ok(fi_passive_ep(end.fabric, own, &listener, NULL), "fi_passive_ep");
	ok(fi_pep_bind(listener, &end.eq->fid, 0), "fi_pep_bind");
	ok(fi_listen(listener), "fi_listen");
	say_listening();
	request = await_event(&end, FI_CONNREQ);
	open_endpoint(&end, request, buffer);
	ok(fi_accept(end.ep, NULL, 0), "fi_accept");
	await_event(&end, FI_CONNECTED);
	while (await_completion(&end, &completion)) {
		if (!(completion.flags & FI_RECV))
			continue;
		recv_into(&end, !buffer); /* before the client can send again */
		send_from(&end, buffer, completion.len);
		buffer = !buffer;
	}
	ok(fi_close(&listener->fid), "fi_close");
	close_end(&end);
	fi_freeinfo(request);
	fi_freeinfo(own);
}

/* One message there and back: the two completions come in either order. */
static bool ping(struct end *end)
{
	struct fi_cq_msg_entry completion;

	send_from(end, 0, message_size);
	return await_completion(end, &completion) && await_completion(end, &completion);
}

void client(const char *address, const char *port)
{
	struct fi_info *peer = get_info(address, port, 0);
	struct end end;

	open_fabric(&end, peer);
	open_endpoint(&end, peer, 1);
	ok(fi_connect(end.ep, peer->dest_addr, NULL, 0), "fi_connect");
	await_event(&end, FI_CONNECTED);
	while (next_message() && ping(&end)) {
		check_answer();
		recv_into(&end, 1);
	}
	close_end(&end);
	fi_freeinfo(peer);
}
