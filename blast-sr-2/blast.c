/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What makes client and server a stream: the limits on what they may ask of the device, and what
 * each sets up before it is connected. What a stage provides: see common/stage.h.
 */
#include <errno.h>
#include <stdlib.h>

#include "blast-sr-2/blast.h"
#include "common/device.h"
#include "common/memory_registration.h"
#include "ping-sr-0/legacy.h"
#include "common/transfer_posting.h"
#include "ping-sr-1/connect_info.h"
#include "program/report.h"

#define QUARTERS   4    /* by default, completions and credits come for a quarter of -b */
#define LARGE_SIZE 4096 /* bytes: compared with such a message its completion costs nothing */

static uint32_t smaller(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* For how many buffers the device has queues: a WR and a CQE for each, and `others` more sends. */
static uint32_t most_buffers(const struct ibv_device_attr *device, bool is_client, uint32_t others)
{
	uint32_t cqes = (uint32_t)device->max_cqe - others, wrs = (uint32_t)device->max_qp_wr;

	/* A client may have a send and a credit's receive outstanding for each of its buffers. */
	if (is_client)
		return smaller(cqes / 2, wrs - others);
	return smaller(cqes - OUR_CREDIT_SENDS, wrs);
}

/* Compares what is wanted with what the device has: a message now is better than EINVAL later. */
static int check_device(struct our_control *control, bool is_client)
{
	struct ibv_device_attr device;
	uint32_t most;
	int ret;

	ret = ibv_query_device(control->verbs, &device);
	if (ret)
		return our_report_error("ibv_query_device", ret, NULL);
	most = most_buffers(&device, is_client, control->keepalive.max_send_wr);
	if (control->n_data_buffers > most) {
		our_report_sentence("%u buffers (-b) are more than %s takes: %u, because it has "
				    "at most %d work requests a queue and %d entries a CQ",
				    control->n_data_buffers, our_device_name(control), most,
				    device.max_qp_wr, device.max_cqe);
		control->refusal_reason = OUR_REFUSED_BUFFERS;
		control->refusal_limit = most;
		return is_client ? EMSGSIZE : ERANGE;
	}
	control->n_sge = smaller((uint32_t)our_blast_options.sge, control->data_size);
	if (control->n_sge > (uint32_t)device.max_sge) {
		our_report_sentence("--sge %u is more than %s takes: %d", control->n_sge,
				    our_device_name(control), device.max_sge);
		return is_client ? EMSGSIZE : ERANGE;
	}
	return 0;
}

/* As wanted, or a part of the buffers; never more than all of them, or nothing would move. */
static uint64_t batch(uint64_t wanted, uint32_t buffers)
{
	if (!wanted)
		wanted = (buffers + QUARTERS - 1) / QUARTERS;
	return wanted < buffers ? wanted : buffers;
}

/*
 * With a large message, signaling fewer sends saves little. On soft-iWARP it even costs: there an
 * unsignaled send of a page or more takes a slower path. See docs/pitfalls.md.
 */
static uint64_t signal_every(const struct our_control *control)
{
	uint64_t wanted = our_blast_options.signal_every;

	if (!wanted && control->data_size >= LARGE_SIZE)
		wanted = 1;
	return batch(wanted, control->n_data_buffers);
}

/*
 * How many credits a message carries, at least. A client without our extension has receives for
 * only three credit messages, and a fourth that found none would end an iWARP connection. That our
 * send completed does not prove that the client has posted its receive again; what we received from
 * the client does. With batches of at least half the buffers, and a smaller one only for the last
 * message of all (may_return), there are never more than three, and nothing has to be counted:
 *
 * Let the client have n buffers, and let c be the oldest credit message whose receive it has not
 * posted again. It has taken no message after c, so all that it could send is n, plus the credits
 * before c, plus those of c. We return credits only for what we received. So the credits that we
 * returned after c are at most n: two batches of half of n, or one batch and the last message. With
 * c these are three messages.
 *
 * This does not stall: a client without credits has sent n messages more than were credited, which
 * is a batch, or everything it had to send; then everything due is returned at once.
 */
static uint64_t credit_batch(const struct our_control *control)
{
	uint64_t wanted = batch(our_blast_options.credit_batch, control->n_data_buffers);
	uint64_t half = ((uint64_t)control->n_data_buffers + 1) / 2;

	return control->has_extension || wanted > half ? wanted : half;
}

static int create_transfer(struct our_control *control)
{
	control->transfer = calloc(1, sizeof(*control->transfer));
	if (!control->transfer)
		return our_report_error("calloc", ENOMEM, NULL);
	control->transfer->goal = control->count;
	control->transfer->credit_batch = credit_batch(control);
	control->transfer->signal_every = signal_every(control);
	return 0;
}

static void destroy_transfer(struct our_control *control)
{
	control->statistics.stream = NULL;
	free(control->transfer);
	control->transfer = NULL;
}

/* Everything except the receives, of which there is one for each buffer, whatever arrives in it. */
static int setup_transfer(struct our_control *control, uint32_t max_send_wr, uint32_t credit_slots)
{
	int ret;

	ret = create_transfer(control);
	if (ret)
		return ret;
	ret = our_setup_qp(control, max_send_wr, control->n_data_buffers);
	if (ret)
		goto err_destroy_transfer;
	/* Zeros: a client with -v fills them for each message. */
	ret = our_setup_buffers(control, control->n_data_buffers, IBV_ACCESS_LOCAL_WRITE);
	if (ret)
		goto err_unsetup_qp;
	ret = our_setup_pieces(control);
	if (ret)
		goto err_unsetup_buffers;
	ret = our_setup_credits(control, credit_slots);
	if (ret)
		goto err_unsetup_pieces;
	return 0;

err_unsetup_pieces:
	our_unsetup_pieces(control);
err_unsetup_buffers:
	our_unsetup_buffers(control);
err_unsetup_qp:
	our_unsetup_qp(control);
err_destroy_transfer:
	destroy_transfer(control);
	return ret;
}

void our_unsetup_transfer(struct our_control *control)
{
	our_unsetup_credits(control);
	our_unsetup_pieces(control);
	our_unsetup_buffers(control);
	our_unsetup_qp(control);
	destroy_transfer(control);
}

int our_setup_client_transfer(struct our_control *client)
{
	uint32_t buffers = (uint32_t)our_blast_options.buffers, slot;
	int ret;

	client->n_data_buffers = buffers;
	client->inline_wanted = (uint32_t)our_blast_options.inline_size;
	ret = check_device(client, true);
	if (!ret)
		ret = setup_transfer(client, buffers, buffers);
	if (ret)
		return ret;
	for (slot = 0; !ret && slot < buffers; slot++)
		ret = our_post_credit_recv(client, slot);
	if (ret)
		our_unsetup_transfer(client);
	return ret;
}

int our_setup_agent_transfer(struct our_control *agent)
{
	int ret;

	ret = check_device(agent, false);
	if (!ret)
		ret = setup_transfer(agent, OUR_CREDIT_SENDS, OUR_CREDIT_SENDS);
	if (ret)
		return ret;
	ret = our_post_recv_chain(agent, agent->n_data_buffers);
	if (ret)
		our_unsetup_transfer(agent);
	return ret;
}
