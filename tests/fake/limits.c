/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: fake verbs, the limits of the device. See limits.h.
 */
#include <errno.h>
#include <string.h>

#include "tests/fake/limits.h"

#define MAX_MESSAGE  (1u << 20)
#define MAX_INLINE   512
#define SPARE_INLINE 64
#define READ_DEPTH   16

static unsigned int limit(unsigned int wanted, unsigned int otherwise)
{
	return wanted ? wanted : otherwise;
}

static uint32_t max_wr(void)
{
	return limit(fake_config->max_qp_wr, FAKE_MAX_WR);
}

static uint32_t max_sge(void)
{
	return limit(fake_config->max_sge, 1);
}

void fake_fill_device(struct ibv_device_attr *device)
{
	memset(device, 0, sizeof(*device));
	device->max_cq = device->max_qp = 16;
	device->max_cqe = (int)limit(fake_config->max_cqe, 2 * FAKE_MAX_WR);
	device->max_qp_wr = (int)max_wr();
	device->max_sge = (int)max_sge();
	device->atomic_cap = fake_config->iwarp ? IBV_ATOMIC_NONE : IBV_ATOMIC_HCA;
	device->max_qp_rd_atom = (int)limit(fake_config->max_qp_rd_atom, READ_DEPTH);
	device->max_qp_init_rd_atom = (int)limit(fake_config->max_qp_init_rd_atom, READ_DEPTH);
}

uint32_t fake_max_message(void)
{
	return limit(fake_config->max_message, MAX_MESSAGE);
}

int fake_check_cqe(int entries)
{
	struct ibv_device_attr device;

	fake_fill_device(&device);
	return entries > device.max_cqe ? EINVAL : 0;
}

int fake_check_depths(const struct rdma_conn_param *param)
{
	struct ibv_device_attr device;

	fake_fill_device(&device);
	return param->responder_resources > device.max_qp_rd_atom ||
			       param->initiator_depth > device.max_qp_init_rd_atom
		       ? EINVAL
		       : 0;
}

int fake_grant(struct ibv_qp_cap *cap)
{
	uint32_t most = limit(fake_config->max_inline, MAX_INLINE);
	uint32_t granted = cap->max_inline_data + (fake_config->exact_inline ? 0 : SPARE_INLINE);

	if (cap->max_send_wr > max_wr() || cap->max_recv_wr > max_wr() ||
	    cap->max_send_sge > max_sge() || cap->max_recv_sge > max_sge() ||
	    cap->max_inline_data > most)
		return EINVAL;
	cap->max_inline_data = fake_config->no_inline ? 0 : granted < most ? granted : most;
	return 0;
}

/*
 * ---- the RNR timer (receiver not ready) of a QP: how long a sender on InfiniBand or RoCE waits if its
 * message found no receive ----
 */

#define LONG_US 10000 /* longer: one late receive costs a hundred round trips */

/*
 * The microseconds of each code, from the InfiniBand specification ("Encoding for RNR NAK Timer").
 */
static const uint32_t us_of[] = {
	655360, 10,    20,    30,    40,    60,     80,     120,    160,    240,    320,
	480,    640,   960,   1280,  1920,  2560,   3840,   5120,   7680,   10240,  15360,
	20480,  30720, 40960, 61440, 81920, 122880, 163840, 245760, 327680, 491520,
};

void fake_note_rnr_timer(struct fake_qp *qp, unsigned int code)
{
	if (fake_config->iwarp)
		fake_complain("ibv_modify_qp: iWARP has no RNR timer");
	if (code >= sizeof(us_of) / sizeof(us_of[0]))
		fake_complain("ibv_modify_qp: there is no RNR timer %u", code);
	else
		qp->rnr_timer = code;
}

/*
 * In a run without failures the program must have set it: 0, the value that rdma_cm leaves, is the
 * longest time.
 */
void fake_check_rnr_timer(const struct fake_qp *qp)
{
	const struct fake_peer *peer = qp->id->peer;
	uint32_t us = us_of[qp->rnr_timer];

	if (fake_config->iwarp || fake_report->hit || fake_config->one_more ||
	    fake_report->one_file)
		return;
	if (peer && peer->done && us > LONG_US)
		fake_complain("QP %u has worked with an RNR timer of %u us", qp->object.number, us);
}
