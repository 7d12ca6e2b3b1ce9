/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-trace, the tool: the devices that are open. See devices.h.
 */
#include <pthread.h>
#include <stdlib.h>

#include "verbs-trace/tool/devices.h"
#include "verbs-trace/tool/guard.h"
#include "hooks.h"

struct device devices[MAX_DEVICES]; /* a row is used again only for the same context */
_Atomic int n_devices;

const struct device *device_seek(const struct ibv_context *context)
{
	int i, n = n_devices;

	for (i = 0; i < n; i++) {
		if (devices[i].context == context)
			return &devices[i];
	}
	return NULL;
}
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards adding rows */

void device_opened(struct ibv_context *context)
{
	struct verbs_context *verbs;
	struct device *device;

	if (!context)
		return;
	guard_lock(&lock);
	device = (struct device *)device_of(context);
	if (!device && n_devices < MAX_DEVICES)
		device = &devices[n_devices];
	if (device) {
		install_ops(&context->ops, &device->ops);
		verbs = verbs_get_ctx(context);
		if (verbs)
			install_verbs_context(verbs, &device->verbs_context);
		device->context = context;
		if (device == &devices[n_devices])
			n_devices++;
	}
	guard_unlock(&lock);
}

void after_ibv_open_device(struct call *call, struct ibv_device *device, struct ibv_context *ret)
{
	(void)call, (void)device;
	device_opened(ret);
}

void after_ibv_import_device(struct call *call, int cmd_fd, struct ibv_context *ret)
{
	(void)call, (void)cmd_fd;
	device_opened(ret);
}
