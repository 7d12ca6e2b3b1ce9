/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: fake verbs, librdmacm's ids and channels, until a connection begins. Contract: as in the
 * man pages. What the man pages do not define (synchronous ids, migration) is as in librdmacm.
 */
#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/clock.h"
#include "tests/fake/libc.h"
#include "tests/fake/state.h"

static LIST_HEAD(channel_list, fake_channel) channels;
static LIST_HEAD(id_list, fake_id) ids;

bool fake_is_event_channel(int fd)
{
	const struct fake_channel *channel = LIST_FIRST(&channels);

	while (channel && channel->pub.fd != fd)
		channel = LIST_NEXT(channel, next);
	return channel;
}

static struct fake_channel *new_channel(bool hidden)
{
	struct fake_channel *channel = fake_new(struct fake_channel, "event channel");

	channel->object.hidden = hidden;
	STAILQ_INIT(&channel->queue);
	LIST_INSERT_HEAD(&channels, channel, next);
	channel->pub.fd = __real_eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC);
	return channel;
}

static void end_channel(struct fake_channel *channel, const char *call)
{
	int fd = channel->object.alive ? channel->pub.fd : -1;

	if (!fake_retire(&channel->object, call))
		return;
	LIST_REMOVE(channel, next);
	close(fd);
}

struct rdma_event_channel *rdma_create_event_channel(void)
{
	struct fake_fault fault = fake_begin("rdma_create_event_channel");
	struct fake_channel *channel = fault.error ? NULL : new_channel(false);

	fake_end(fault.error);
	return channel ? &channel->pub : NULL;
}

void rdma_destroy_event_channel(struct rdma_event_channel *channel)
{
	fake_begin_sure("rdma_destroy_event_channel");
	end_channel(fake_of(struct fake_channel, channel), "rdma_destroy_event_channel");
	fake_end(0);
}

struct fake_id *fake_new_id(struct fake_channel *channel, void *context, bool sync)
{
	struct fake_id *id = fake_new(struct fake_id, "id");

	LIST_INSERT_HEAD(&ids, id, next);
	id->sync = sync;
	id->channel = sync ? new_channel(true) : channel;
	id->channel->object.users++;
	id->pub.channel = &id->channel->pub;
	id->pub.context = context;
	id->pub.ps = RDMA_PS_TCP;
	id->pub.qp_type = IBV_QPT_RC;
	return id;
}

/*
 * The id gets the event in every state except two: if it is not bound, and if it came with a
 * connect request that the program has not accepted yet.
 */
void fake_stray_events(void)
{
	bool unreachable = fake_config->stray_unreachable;
	struct fake_id *id;

	for (id = LIST_FIRST(&ids); id; id = LIST_NEXT(id, next)) {
		if (id->state == FAKE_IDLE || id->state == FAKE_REQUESTED)
			continue;
		fake_report->strayed = true;
		fake_report->peers_doing = unreachable;
		fake_send_event(id,
				unreachable ? RDMA_CM_EVENT_UNREACHABLE : RDMA_CM_EVENT_ADDR_CHANGE,
				unreachable ? -ETIMEDOUT : 0, NULL, 0);
	}
}

bool fake_any_other(const struct fake_id *one)
{
	const struct fake_id *id = LIST_FIRST(&ids);

	while (id && (id == one || (id->state != FAKE_REQUESTED && id->state != FAKE_CONNECTED)))
		id = LIST_NEXT(id, next);
	return id;
}

void fake_tell_late(uint64_t ns)
{
	const struct timespec late = { .tv_sec = fake_report ? fake_config->late_s : 0 };
	struct fake_id *id;

	if (!fake_report || !fake_config->late_gone || ns < late.tv_sec * OUR_NS_PER_S)
		return;
	fake_lock();
	for (id = LIST_FIRST(&ids); id; id = LIST_NEXT(id, next)) {
		if (!id->gone_late)
			continue;
		fake_skip_time(&late);
		fake_tell_gone(id);
		id->gone_late = false;
	}
	fake_pump();
	fake_unlock();
}

int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **id, void *context,
		   enum rdma_port_space ps)
{
	struct fake_fault fault = fake_begin("rdma_create_id");
	struct fake_channel *its = channel ? fake_of(struct fake_channel, channel) : NULL;

	if (ps != RDMA_PS_TCP)
		fake_complain("rdma_create_id: no port space for reliable connections");
	if (!fault.error && its && !fake_use(&its->object, "rdma_create_id"))
		fault.error = EINVAL;
	if (!fault.error)
		*id = &fake_new_id(its, context, !channel)->pub;
	return fake_end_rdma(fault.error);
}

void fake_end_id(struct fake_id *id, const char *call)
{
	struct fake_channel *channel = id->channel;
	struct fake_qp *qp;

	if (!fake_use(&id->object, call))
		return;
	qp = fake_qp_of(id);
	if (qp)
		fake_complain("%s: id %u still has QP %u", call, id->object.number,
			      qp->object.number);
	if (id->state == FAKE_REQUESTED && id->peer && !id->peer->left && !id->unmoved &&
	    !fake_report->one_file && !fake_report->example) /* which leave it to the kernel */
		fake_complain("%s: the client of id %u has had no answer", call, id->object.number);
	if (id->pub.event)
		fake_ack(fake_of(struct fake_event, id->pub.event), call);
	fake_drop_events(id);
	fake_await_acks(id, call);
	if (id->peer)
		fake_peer_leaves(id->peer);
	if (id->peer && id->peer->is_client && id->peer->id == id)
		fake_request_ends(id->peer);
	LIST_REMOVE(id, next);
	fake_retire(&id->object, call);
	channel->object.users--;
	if (id->sync)
		end_channel(channel, call);
}

int rdma_destroy_id(struct rdma_cm_id *id)
{
	struct fake_fault fault = fake_begin("rdma_destroy_id");

	fake_end_id(fake_of(struct fake_id, id), "rdma_destroy_id");
	return fake_end_rdma(fault.error);
}

static void migrate(struct fake_id *id, struct fake_channel *to, bool sync)
{
	struct fake_channel *from = id->channel;
	bool was_sync = id->sync;

	if (was_sync && id->pub.event) {
		fake_ack(fake_of(struct fake_event, id->pub.event), "rdma_migrate_id");
		id->pub.event = NULL;
	}
	fake_await_acks(id, "rdma_migrate_id");
	fake_move_events(id, from, to);
	from->object.users--;
	to->object.users++;
	id->channel = to;
	id->pub.channel = &to->pub;
	id->sync = sync;
	if (was_sync)
		end_channel(from, "rdma_migrate_id");
}

int rdma_migrate_id(struct rdma_cm_id *pub, struct rdma_event_channel *channel)
{
	struct fake_fault fault = fake_begin("rdma_migrate_id");
	struct fake_id *id = fake_of(struct fake_id, pub);

	if (!fault.error && (!fake_use(&id->object, "rdma_migrate_id") || (id->sync && !channel)))
		fault.error = EINVAL;
	id->unmoved = fault.error;
	if (!fault.error)
		migrate(id, channel ? fake_of(struct fake_channel, channel) : new_channel(true),
			!channel);
	return fake_end_rdma(fault.error);
}

void fake_give_device(struct fake_id *id)
{
	static unsigned int given;
	unsigned int devices = fake_config->devices ? fake_config->devices : 1;

	id->pub.verbs = fake_get_device(given++ % devices);
	id->pub.port_num = 1;
}
