/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: prints, for the questions of probe.c, the events and completions at the two ends, as they come.
 */
#include "probe.h"

static struct timespec began;

void restart_clock(void)
{
	clock_gettime(CLOCK_MONOTONIC, &began);
}

double ms_passed(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (now.tv_sec - began.tv_sec) * 1e3 + (now.tv_nsec - began.tv_nsec) / 1e6;
}

__attribute__((format(printf, 1, 2))) void told(const char *format, ...)
{
	va_list ap;

	printf("%9.1f ms  ", ms_passed());
	va_start(ap, format);
	vprintf(format, ap);
	va_end(ap);
	putchar('\n');
	fflush(stdout);
}

/*
 * Prints what a post returned, which may be an errno value or, with some providers, a negative one,
 * or -1 and errno.
 */
void tell_post(const struct end *end, const char *what, int ret)
{
	told("%s: %s returns %d%s%s", end->name, what, ret, ret ? ": " : "",
	     ret ? strerror(ret == -1 ? errno : abs(ret)) : "");
}

/* Takes the next event within the time, copied and acked; returns false if there was none. */
bool event_within(struct rdma_event_channel *events, int ms, struct rdma_cm_event *copy)
{
	struct pollfd readable = { .fd = events->fd, .events = POLLIN };
	struct rdma_cm_event *event;

	if (poll(&readable, 1, ms) != 1)
		return false;
	must(!rdma_get_cm_event(events, &event), "rdma_get_cm_event");
	*copy = *event;
	rdma_ack_cm_event(event);
	return true;
}

/* Prints events and completions of both ends as they come, for `ms` or until `enough` came. */
int watch(struct ends *e, int ms, int enough)
{
	struct end *both[] = { &e->client, &e->server };
	double until = ms_passed() + ms;
	struct rdma_cm_event event;
	struct ibv_wc wc;
	int seen = 0;

	while (ms_passed() < until && seen < enough) {
		for (int i = 0; i < 2; i++) {
			while (ibv_poll_cq(both[i]->cq, 1, &wc) == 1) {
				told("%s: %s completed: %s", both[i]->name,
				     wc.wr_id == 'r'   ? "receive"
				     : wc.wr_id == 'e' ? "empty request"
						       : "send",
				     ibv_wc_status_str(wc.status));
				seen++;
			}
		}
		if (event_within(e->events, 1, &event)) {
			told("%s: %s", event.id == e->client.id ? "client" : "server",
			     rdma_event_str(event.event));
			seen++;
		}
	}
	return seen;
}
