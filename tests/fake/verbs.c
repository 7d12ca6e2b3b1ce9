/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: fake verbs, libibverbs' devices, PDs, MRs and completion channels. Contract: as in the man
 * pages; each device has one port, and serves every address.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "tests/fake/libc.h"
#include "tests/fake/limits.h"
#include "tests/fake/machines.h"
#include "tests/fake/state.h"

/* verbs.h has macros of these names, which call other functions. */
#undef ibv_reg_mr
#undef ibv_query_port

static int query_port(struct ibv_context *context, uint8_t port_number, struct ibv_port_attr *port,
		      size_t size);

static struct {
	struct ibv_device pub;
	struct verbs_context context;
} devices[FAKE_MAX_DEVICES];

static LIST_HEAD(comp_channel_list, fake_comp_channel) comp_channels;

static const struct ibv_context_ops operations = {
	.poll_cq = fake_poll_cq,
	.req_notify_cq = fake_req_notify_cq,
	.post_send = fake_post_send,
	.post_recv = fake_post_recv,
	.post_srq_recv = fake_post_srq_recv,
};

struct ibv_context *fake_get_device(unsigned int number)
{
	struct ibv_device *device = &devices[number].pub;
	struct verbs_context *context = &devices[number].context;
	bool iwarp = fake_adapter(number)->iwarp;

	if (!context->sz) {
		device->node_type = iwarp ? IBV_NODE_RNIC : IBV_NODE_CA;
		device->transport_type = iwarp ? IBV_TRANSPORT_IWARP : IBV_TRANSPORT_IB;
		if (fake_config->machine)
			snprintf(device->name, sizeof(device->name), "%s",
				 fake_adapter(number)->name);
		else
			snprintf(device->name, sizeof(device->name), "%s%u", iwarp ? "siw" : "rxe",
				 number);
		context->query_port = query_port;
		context->sz = sizeof(*context);
		context->context.device = device;
		context->context.abi_compat = __VERBS_ABI_IS_EXTENDED;
		context->context.num_comp_vectors = 1;
		context->context.async_fd = fake_async_fd(number);
		context->context.ops = operations;
	}
	return &context->context;
}

const char *ibv_get_device_name(struct ibv_device *its)
{
	return its->name;
}

const char *ibv_wc_status_str(enum ibv_wc_status status)
{
	static _Thread_local char text[32];

	snprintf(text, sizeof(text), "status %d", status);
	return text;
}

static int fill_port(const struct ibv_context *context, uint8_t number, struct ibv_port_attr *port)
{
	struct fake_fault fault = fake_begin("ibv_query_port");

	memset(port, 0, sizeof(*port));
	if (!fake_fill_port(context, number, port))
		fault.error = EINVAL;
	port->max_msg_sz = fake_max_message();
	return fake_end(fault.error);
}

static int query_port(struct ibv_context *context, uint8_t port_number, struct ibv_port_attr *port,
		      size_t size)
{
	(void)size;
	return fill_port(context, port_number, port);
}

int ibv_query_port(struct ibv_context *context, uint8_t port_number,
		   struct _compat_ibv_port_attr *port)
{
	return fill_port(context, port_number, (struct ibv_port_attr *)port);
}

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *limits)
{
	struct fake_fault fault = fake_begin("ibv_query_device");

	(void)context;
	fake_fill_device(limits);
	return fake_end(fault.error);
}

struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	struct fake_fault fault = fake_begin("ibv_alloc_pd");
	struct fake_pd *pd = fault.error ? NULL : fake_new(struct fake_pd, "PD");

	if (pd)
		pd->pub.context = context;
	fake_end(fault.error);
	return pd ? &pd->pub : NULL;
}

int ibv_dealloc_pd(struct ibv_pd *pd)
{
	struct fake_fault fault = fake_begin("ibv_dealloc_pd");

	if (!fake_retire(&fake_of(struct fake_pd, pd)->object, "ibv_dealloc_pd"))
		fault.error = EBUSY;
	return fake_end(fault.error);
}

static LIST_HEAD(mr_list, fake_mr) mrs;

struct fake_mr *fake_find_mr(uint32_t lkey)
{
	struct fake_mr *mr;

	for (mr = LIST_FIRST(&mrs); mr; mr = LIST_NEXT(mr, next)) {
		if (mr->pub.lkey == lkey)
			return mr;
	}
	return NULL;
}

struct fake_mr *fake_find_remote_mr(uint32_t rkey)
{
	struct fake_mr *mr = fake_find_mr(~rkey);

	return mr && mr->access & ~IBV_ACCESS_LOCAL_WRITE ? mr : NULL;
}

/* Each side must give the other only the rights that the stage needs. */
static int rights_needed(void)
{
	int rights = IBV_ACCESS_LOCAL_WRITE;

	if (!fake_config->one_sided)
		return rights;
	if (fake_config->talks)
		return rights | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
	if (fake_config->pushes)
		return rights | (fake_config->program_serves ? 0 : IBV_ACCESS_REMOTE_WRITE);
	if (fake_config->publishes && fake_config->program_serves)
		return IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ;
	if (fake_config->counts)
		return rights | (fake_config->program_serves ? IBV_ACCESS_REMOTE_ATOMIC : 0);
	if (fake_config->only_writes && fake_config->reads && fake_config->program_serves)
		return rights | IBV_ACCESS_REMOTE_READ;
	if (fake_config->reads)
		return rights | (fake_config->iwarp ? IBV_ACCESS_REMOTE_WRITE : 0);
	if (fake_config->only_writes)
		return rights | (fake_config->program_serves ? IBV_ACCESS_REMOTE_WRITE : 0);
	if (fake_config->spins)
		return rights | IBV_ACCESS_REMOTE_WRITE;
	if (fake_config->program_serves)
		rights |= IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
	else if (fake_config->iwarp)
		rights |= IBV_ACCESS_REMOTE_WRITE; /* the target of a READ */
	return rights;
}

static struct ibv_mr *reg_mr(struct ibv_pd *pub, void *data, size_t length, int access)
{
	struct fake_fault fault = fake_begin("ibv_reg_mr");
	struct fake_pd *pd = fake_of(struct fake_pd, pub);
	struct fake_mr *mr = NULL;

	if (access & ~rights_needed())
		fake_complain("ibv_reg_mr: the peer has no business in our memory");
	if (!fault.error && fake_use(&pd->object, "ibv_reg_mr")) {
		mr = fake_new(struct fake_mr, "MR");
		mr->pd = pd;
		mr->access = access;
		pd->object.users++;
		LIST_INSERT_HEAD(&mrs, mr, next);
		mr->pub = (struct ibv_mr){ .context = pub->context,
					   .pd = pub,
					   .addr = data,
					   .length = length,
					   .lkey = mr->object.number,
					   .rkey = ~mr->object.number };
	}
	fake_end(mr ? 0 : fault.error);
	return mr ? &mr->pub : NULL;
}

struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *data, size_t length, int access)
{
	return reg_mr(pd, data, length, access);
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *data, size_t length, uint64_t iova,
				unsigned int access)
{
	(void)iova;
	return reg_mr(pd, data, length, (int)access);
}

int ibv_dereg_mr(struct ibv_mr *pub)
{
	struct fake_fault fault = fake_begin("ibv_dereg_mr");
	struct fake_mr *mr = fake_of(struct fake_mr, pub);

	if (mr->object.alive && fake_posted(mr) + fake_posted_to_srqs(mr))
		fake_complain("ibv_dereg_mr: MR %u is needed by %u posted work requests",
			      mr->object.number, fake_posted(mr) + fake_posted_to_srqs(mr));
	if (mr->object.alive)
		fake_slot_closes(mr);
	if (fake_retire(&mr->object, "ibv_dereg_mr")) {
		LIST_REMOVE(mr, next);
		mr->pd->object.users--;
	} else {
		fault.error = EBUSY;
	}
	return fake_end(fault.error);
}

bool fake_any_comp_channel(const struct pollfd *fds, nfds_t n)
{
	const struct fake_comp_channel *channel;
	bool found = false;
	nfds_t i;

	fake_lock();
	for (channel = LIST_FIRST(&comp_channels); channel; channel = LIST_NEXT(channel, next)) {
		for (i = 0; i < n; i++)
			found |= fds[i].fd == channel->pub.fd;
	}
	fake_unlock();
	return found;
}

static void note_channels(void)
{
	const struct fake_comp_channel *channel;
	unsigned int n = 0;

	for (channel = LIST_FIRST(&comp_channels); channel; channel = LIST_NEXT(channel, next))
		n++;
	if (n > fake_report->comp_channels)
		fake_report->comp_channels = n;
}

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
	struct fake_fault fault = fake_begin("ibv_create_comp_channel");
	struct fake_comp_channel *channel = NULL;

	if (!fault.error) {
		channel = fake_new(struct fake_comp_channel, "completion channel");
		channel->pub.context = context;
		channel->pub.fd = __real_eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC);
		LIST_INSERT_HEAD(&comp_channels, channel, next);
		note_channels();
	}
	fake_end(fault.error);
	return channel ? &channel->pub : NULL;
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *pub)
{
	struct fake_fault fault = fake_begin("ibv_destroy_comp_channel");
	struct fake_comp_channel *channel = fake_of(struct fake_comp_channel, pub);
	int fd = channel->object.alive ? pub->fd : -1;

	if (fake_retire(&channel->object, "ibv_destroy_comp_channel")) {
		LIST_REMOVE(channel, next);
		close(fd);
	} else {
		fault.error = EBUSY;
	}
	return fake_end(fault.error);
}
