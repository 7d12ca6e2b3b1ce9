/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The connections of a device that shares its CQ or its receives, and the buffers that they share.
 * See our_control.h and shared_device.h.
 */
#include <errno.h>

#include "common/report.h"
#include "common/shared_device.h"
#include "common/transfer_posting.h"

void our_add_to_device(struct our_control *control)
{
	if (control->device)
		LIST_INSERT_HEAD(&our_shared(control->device)
					  ->connections[control->qp->qp_num % OUR_DEVICE_BUCKETS],
				 our_private(control), of_device);
}

void our_remove_from_device(struct our_control *control)
{
	const struct our_device *device = control->device;
	uint32_t i;

	if (!device)
		return;
	LIST_REMOVE(our_private(control), of_device);
	for (i = 0; i < device->memory.n_buffers; i++) {
		if (our_shared(device)->sending[i] == control)
			our_device_post_recv(control->device, i);
	}
}

struct our_control *our_control_of(struct our_device *device, uint32_t qp_num)
{
	struct our_private *one =
		LIST_FIRST(&our_shared(device)->connections[qp_num % OUR_DEVICE_BUCKETS]);

	for (; one; one = LIST_NEXT(one, of_device)) {
		if (one->head.qp->qp_num == qp_num)
			return &one->head;
	}
	return NULL;
}

int our_report_no_recv(const struct our_device *device, int ret)
{
	return our_tell_error(device->config, "ibv_post_srq_recv", ret < 0 ? errno : ret, NULL);
}

int our_device_post_recv(struct our_device *device, uint32_t index)
{
	struct ibv_recv_wr *wr = &device->memory.buffers[index].recv_wr, *bad_wr;
	int ret;

	our_shared(device)->sending[index] = NULL;
	wr->next = NULL;
	ret = ibv_post_srq_recv(device->srq, wr, &bad_wr);
	return ret ? our_report_no_recv(device, ret) : 0;
}

int our_device_post_send(struct our_device *device, struct our_control *control, uint32_t index,
			 uint32_t length)
{
	struct our_buffer *buffer = &device->memory.buffers[index];
	int ret;

	buffer->send_wr.wr_id = OUR_WR_ID_ECHO | index;
	buffer->send_sge.length = length;
	our_set_inline(control, &buffer->send_wr, length);
	our_shared(device)->sending[index] = control;
	ret = length > device->memory.size
		      ? our_report_too_long(control, length, device->memory.size)
		      : our_post(control, &buffer->send_wr, NULL);
	if (ret)
		our_device_post_recv(device, index); /* it was not sent */
	return ret;
}
