/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * devices: prints asynchronous events, which belong to no call, as they come. Events of a port or of the
 * whole device go to every program that has it open; those of a QP, CQ or SRQ only to the program
 * that created it, so this does not see them. See devices.h.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "devices/devices.h"
#include "program/report.h"
#include "program/stop.h"

static void show_event(const struct devices_device *device, const struct ibv_async_event *event)
{
	char now[32] = "";
	time_t seconds = time(NULL);
	struct tm local;

	if (localtime_r(&seconds, &local))
		strftime(now, sizeof(now), "%H:%M:%S", &local);
	printf("%s %s", now, device->name);
	switch (event->event_type) {
	case IBV_EVENT_PORT_ACTIVE:
	case IBV_EVENT_PORT_ERR:
	case IBV_EVENT_LID_CHANGE:
	case IBV_EVENT_PKEY_CHANGE:
	case IBV_EVENT_SM_CHANGE:
	case IBV_EVENT_CLIENT_REREGISTER:
	case IBV_EVENT_GID_CHANGE:
		printf(" port %d", event->element.port_num);
		break;
	default:
		break;
	}
	printf(": %s\n", ibv_event_type_str(event->event_type));
	fflush(stdout);
}

static int take_event(const struct devices_device *device)
{
	struct ibv_async_event event;

	if (ibv_get_async_event(device->verbs, &event))
		return errno == EINTR || errno == EAGAIN
			       ? 0
			       : our_report_error("ibv_get_async_event", errno, NULL);
	show_event(device, &event);
	ibv_ack_async_event(&event);
	return 0;
}

static int watch(const struct devices *devices, struct pollfd *fds)
{
	size_t i;
	int ret = 0;

	while (!ret && !our_stop_requested(our_program_stop())) {
		if (poll(fds, devices->n + 1, -1) < 0 && errno != EINTR)
			return our_report_error("poll", errno, NULL);
		for (i = 0; i < devices->n && !ret && !our_stop_requested(our_program_stop());
		     i++) {
			if (fds[i].revents)
				ret = take_event(&devices->all[i]);
		}
	}
	return ret;
}

int devices_watch(const struct devices *devices)
{
	struct pollfd *fds = calloc(devices->n + 1, sizeof(*fds));
	size_t i;
	int ret;

	if (!fds)
		return our_report_error("calloc", ENOMEM, NULL);
	ret = our_catch_signals();
	for (i = 0; i < devices->n; i++)
		fds[i] = (struct pollfd){ .fd = devices->all[i].verbs->async_fd, .events = POLLIN };
	fds[devices->n] =
		(struct pollfd){ .fd = our_stop_fd(our_program_stop()), .events = POLLIN };
	if (!ret) {
		our_report_sentence("watching %zu device%s; Ctrl-C ends it", devices->n,
				    devices->n == 1 ? "" : "s");
		ret = watch(devices, fds);
	}
	free(fds);
	return ret;
}
