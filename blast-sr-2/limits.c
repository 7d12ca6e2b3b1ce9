/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * blast-sr-2: what a stream may ask of the device, and in which batches completions and credits
 * come. See blast.h.
 */
#include <errno.h>
#include <string.h>

#include "blast-sr-2/blast.h"
#include "common/roles.h"
#include "ping-sr-1/connect_info.h"
#include "program/report.h"
#include "program/serve/session.h"

#define QUARTERS   4    /* by default, completions and credits come for a quarter of -b */
#define LARGE_SIZE 4096 /* bytes: compared with such a message its completion costs nothing */

static uint32_t smaller(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* The number of buffers that fit the queues: a WR and a CQE for each, and `others` more sends. */
static uint32_t most_buffers(const struct ibv_device_attr *device, bool is_client, uint32_t others)
{
	uint32_t cqes = (uint32_t)device->max_cqe - others, wrs = (uint32_t)device->max_qp_wr;

	/* A client may have a send and a credit's receive outstanding for each of its buffers. */
	if (is_client)
		return smaller(cqes / 2, wrs - others);
	return smaller(cqes - OUR_CREDIT_SENDS, wrs);
}

/* Checks that the device takes `n` pieces a message. An agent's client is not to blame for `n`. */
static int check_pieces(const struct our_control *control, uint32_t n,
			const struct ibv_device_attr *device)
{
	if (n <= (uint32_t)device->max_sge)
		return 0;
	our_report_sentence("--sge %u is more than %s takes: %d", n, our_device_name(control),
			    device->max_sge);
	return control->role == OUR_AGENT ? EOPNOTSUPP : EMSGSIZE;
}

int our_blast_check_listener(struct our_control *listener)
{
	struct ibv_device_attr device;
	int ret;

	ret = OUR_CALL(ibv_query_device(listener->verbs, &device));
	if (ret)
		return our_report_error("ibv_query_device", ret, NULL);
	return check_pieces(listener, (uint32_t)our_blast_options.sge, &device);
}

/* Compares what is wanted with what the device has. A message now is better than EINVAL later. */
static int check_device(struct our_control *control, bool is_client)
{
	struct our_run *run = our_run_of(control);
	struct ibv_device_attr device;
	uint32_t most;
	int ret;

	ret = OUR_CALL(ibv_query_device(control->verbs, &device));
	if (ret)
		return our_report_error("ibv_query_device", ret, NULL);
	most = most_buffers(&device, is_client, our_extra_sends(control));
	if (run->n_data_buffers > most) {
		our_report_sentence("%u buffers (-b) are more than %s takes: %u, because it has "
				    "at most %d work requests a queue and %d entries a CQ",
				    run->n_data_buffers, our_device_name(control), most,
				    device.max_qp_wr, device.max_cqe);
		return is_client ? EMSGSIZE : our_note_refusal(control, OUR_REFUSED_BUFFERS, most);
	}
	control->n_sge = smaller((uint32_t)our_blast_options.sge, run->data_size);
	return check_pieces(control, control->n_sge, &device);
}

/* Returns `wanted`, or a part of the buffers if it is 0; at most all, or nothing would move. */
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
	const struct our_run *run = our_run_of(control);
	uint64_t wanted = our_blast_options.signal_every;

	if (!wanted && run->data_size >= LARGE_SIZE)
		wanted = 1;
	return batch(wanted, run->n_data_buffers);
}

/*
 * Returns how many credits a message carries, at least. A client without our extension has receives
 * for only three credit messages, and a fourth that found none would end an iWARP connection. That
 * our send completed does not prove that the client has posted its receive again; what we received
 * from the client does. With batches of at least half the buffers, and a smaller one only for the
 * last message of all (may_return), there are never more than three:
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
	const struct our_run *run = our_run_of(control);
	uint64_t wanted = batch(our_blast_options.credit_batch, run->n_data_buffers);
	uint64_t half = ((uint64_t)run->n_data_buffers + 1) / 2;

	return run->has_extension || wanted > half ? wanted : half;
}

int our_begin_blast(struct our_control *control, bool is_client, struct our_blast *blast)
{
	int ret = check_device(control, is_client);

	if (ret)
		return ret;
	memset(blast, 0, sizeof(*blast));
	blast->goal = our_run_of(control)->count;
	blast->credit_batch = credit_batch(control);
	blast->signal_every = signal_every(control);
	return 0;
}
