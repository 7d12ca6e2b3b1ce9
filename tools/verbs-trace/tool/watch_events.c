/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-trace, the tool: events: missing acks, facts that only events tell, and reads of a CM
 * event's private data after its ack. See watch.h.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <rdma/rdma_cma.h>

#include "verbs-trace/tool/devices.h"
#include "verbs-trace/tool/guard.h"
#include "verbs-trace/tool/say.h"
#include "verbs-trace/tool/settings.h"
#include "verbs-trace/tool/watch.h"

#define PAGES 256 /* only this many of the newest private data are watched */

/*
 * ---- Private data ----
 *
 * The program gets a copy on separate pages. After the ack these pages cannot be read; the tool's SIGSEGV
 * handler notes the read, and lets the program continue.
 */

static struct page {
	uint8_t *data;
	struct moment acked;
	bool in_use, guarded;
} pages[PAGES];
static unsigned int next_page;

static void on_fault(int number, siginfo_t *info, void *context)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE), i;
	const uint8_t *at = info->si_addr;

	(void)context;
	for (i = 0; i < PAGES; i++) {
		if (!pages[i].guarded || at < pages[i].data || at >= pages[i].data + size)
			continue;
		pages[i].guarded = false;
		mprotect(pages[i].data, size, PROT_READ | PROT_WRITE);
		accuse(SORT_PRIVATE_DATA, pages[i].acked,
		       "private data was read after this ack of its event");
		return;
	}
	signal(number, SIG_DFL); /* the program's own fault: it comes again, and ends it */
}

/* Returns false if the program has its own handler. */
static bool have_handler(void)
{
	struct sigaction now,
		ours = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK };

	if (sigaction(SIGSEGV, NULL, &now))
		return false;
	if (now.sa_flags & SA_SIGINFO && now.sa_sigaction == on_fault)
		return true;
	return !(now.sa_flags & SA_SIGINFO) && now.sa_handler == SIG_DFL &&
	       !sigaction(SIGSEGV, &ours, NULL);
}

static struct page *free_page(size_t size)
{
	struct page *page;
	unsigned int i;

	for (i = 0; i < PAGES; i++) {
		page = &pages[next_page++ % PAGES];
		if (page->in_use)
			continue;
		if (!page->data) {
			page->data = mmap(NULL, size, PROT_READ | PROT_WRITE,
					  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			if (page->data == MAP_FAILED) {
				page->data = NULL;
				return NULL;
			}
		} else if (page->guarded) {
			mprotect(page->data, size, PROT_READ | PROT_WRITE);
		}
		page->guarded = false;
		return page;
	}
	return NULL;
}

/*
 * With a length, returns the copy for the program. Without one, notes that the event of this copy
 * is acked now.
 */
static const void *private_data_guard(const void *data, size_t length, struct moment moment)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE), i;
	struct page *page = NULL;

	guard_lock(GUARD_PRIVATE_DATA);
	if (length) {
		page = free_page(size);
		if (page) {
			page->in_use = true;
			memset(page->data, 0, size); /* so that no previous data remain */
			memcpy(page->data, data, length);
			data = page->data;
		}
	}
	for (i = 0; !length && i < PAGES; i++) {
		if (pages[i].data != data || !pages[i].in_use)
			continue;
		pages[i].in_use = false;
		pages[i].acked = moment;
		if (have_handler())
			pages[i].guarded = !mprotect(pages[i].data, size, PROT_NONE);
	}
	guard_unlock(GUARD_PRIVATE_DATA);
	return data;
}

/* ---- Events ---- */

static _Atomic uint64_t async_got, async_acked, async_last;

void watch_got(const struct call *call, struct ibv_cq **cq, int ret)
{
	struct object *object = ret ? NULL : object_of(KIND_CQ, *cq);

	if (!object)
		return;
	object->polled_since_event = false;
	if (call->inner)
		return;
	object->got++;
	object->got_last = call->began;
}

void watch_acking(const struct call *call, struct ibv_cq *cq, unsigned int nevents)
{
	struct object *object = object_of(KIND_CQ, cq);

	if (object && !call->inner)
		object->acked += nevents;
}

static bool is_bad(const struct rdma_cm_event *event)
{
	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_ERROR:
	case RDMA_CM_EVENT_ROUTE_ERROR:
	case RDMA_CM_EVENT_CONNECT_ERROR:
	case RDMA_CM_EVENT_UNREACHABLE:
	case RDMA_CM_EVENT_REJECTED:
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
	case RDMA_CM_EVENT_MULTICAST_ERROR:
		return true;
	default:
		return false;
	}
}

/* A connect request comes with an id, which the program has to destroy. */
void watch_got_cm(struct call *call, struct rdma_cm_event **event, int ret)
{
	if (ret)
		return;
	if ((*event)->event == RDMA_CM_EVENT_CONNECT_REQUEST)
		object_made(KIND_ID, (*event)->id, !call->inner, call_moment(call));
	object_made(KIND_EVENT, *event, !call->inner, call_moment(call));
	call->bad = is_bad(*event);
	if (!call->inner && (*event)->param.conn.private_data_len)
		(*event)->param.conn.private_data = private_data_guard(
			(*event)->param.conn.private_data, (*event)->param.conn.private_data_len,
			call_moment(call));
}

void watch_acking_cm(const struct call *call, struct rdma_cm_event *event)
{
	if (!call->inner && event && event->param.conn.private_data_len)
		private_data_guard(event->param.conn.private_data, 0, call_moment(call));
}

void watch_connected(const struct call *call, const struct rdma_cm_id *id,
		     const struct rdma_conn_param *param)
{
	if (param && !param->retry_count && id->ps == RDMA_PS_TCP && !call->inner)
		accuse(SORT_RETRY, call_moment(call),
		       "rdma_connect with retry_count 0: one lost packet ends the connection");
}

/* Notes the meaning of an asynchronous event, in whichever thread it is read. */
static void see_async(const struct ibv_async_event *event, struct moment moment)
{
	struct object *cq;

	if (event->event_type != IBV_EVENT_CQ_ERR)
		return;
	cq = object_of(KIND_CQ, event->element.cq);
	if (!cq)
		return;
	if (cq->beyond.when)
		moment = cq->beyond;
	accuse(SORT_OVERRUN, moment,
	       "cq%u, of %d entries, has overrun: as many as %d completions were due", cq->number,
	       cq->entries, (int)cq->most);
}

void watch_got_async(struct call *call, const struct ibv_async_event *event, int ret)
{
	if (ret)
		return;
	call->bad = event->event_type == IBV_EVENT_CQ_ERR ||
		    event->event_type == IBV_EVENT_QP_FATAL ||
		    event->event_type == IBV_EVENT_QP_REQ_ERR ||
		    event->event_type == IBV_EVENT_QP_ACCESS_ERR ||
		    event->event_type == IBV_EVENT_DEVICE_FATAL;
	see_async(event, call_moment(call));
	if (!call->inner) {
		async_got++;
		async_last = call->began;
	}
}

void watch_acking_async(const struct call *call)
{
	if (!call->inner)
		async_acked++;
}

void watch_forked(void)
{
	async_acked = (uint64_t)async_got;
}

void watch_drain_events(struct ibv_context *context)
{
	struct pollfd wait = { .fd = context->async_fd, .events = POLLIN };
	__typeof__(&ibv_get_async_event) get = real_function(VERB_ibv_get_async_event);
	__typeof__(&ibv_ack_async_event) ack = real_function(VERB_ibv_ack_async_event);
	struct ibv_async_event event;

	fcntl(context->async_fd, F_SETFL, fcntl(context->async_fd, F_GETFL) | O_NONBLOCK);
	while (poll(&wait, 1, 0) == 1 && wait.revents & POLLIN && !get(context, &event)) {
		see_async(&event, (struct moment){ VERB_ibv_get_async_event, clock_now() });
		ack(&event);
	}
}

static void see_cm_event(struct object *event, void *argument)
{
	(void)argument;
	if (event->own)
		accuse(SORT_CM_EVENT, event->made, "event%u was never acked", event->number);
}

static void see_cq(struct object *cq, void *argument)
{
	(void)argument;
	if (cq->got > cq->acked)
		accuse(SORT_CQ_EVENT, (struct moment){ VERB_ibv_get_cq_event, cq->got_last },
		       "%d of the %d events of cq%u were never acked", (int)(cq->got - cq->acked),
		       (int)cq->got, cq->number);
}

void watch_events_at_exit(void)
{
	objects_each(KIND_EVENT, see_cm_event, NULL);
	objects_each(KIND_CQ, see_cq, NULL);
	if (async_got > async_acked)
		accuse(SORT_ASYNC_EVENT, (struct moment){ VERB_ibv_get_async_event, async_last },
		       "%d of %d asynchronous events were never acked",
		       (int)(async_got - async_acked), (int)async_got);
}
