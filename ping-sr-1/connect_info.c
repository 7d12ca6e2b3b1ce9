/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-sr-1: the client tells the server, in the private data of its connect request, how many
 * messages of what size it will send. The server checks all of it before it uses it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "ping-sr-1/connect_info.h"
#include "program/report.h"
#include "program/serve/admission.h"
#include "program/serve/session.h"
#include "program/stage.h"

struct our_client_limits our_client_limits = {
	.max_count = OUR_COUNT_UNLIMITED,
	.max_size = 16 << 20,
};

static struct {
	uint64_t count, duration_s, data_size; /* 0: not given */
} ignored;

const struct our_option our_client_limits_options[] = {
	{ "count", 'c', "N", "has no effect: each client sends its own",
	  OUR_OWN_NUMBER(ignored.count, 1, OUR_COUNT_UNLIMITED - 1) },
	{ "duration", 'D', "SECONDS", "has no effect: each client sends its own",
	  OUR_OWN_NUMBER(ignored.duration_s, 1, UINT32_MAX) },
	{ "size", 's', "BYTES", "has no effect: each client sends its own",
	  OUR_OWN_BYTES(ignored.data_size, 1, OUR_MAX_SIZE) },
	{ "max-count", 0, "N", "refuse a client that wants to send more messages (default 10^12)",
	  OUR_OWN_NUMBER(our_client_limits.max_count, 1, OUR_COUNT_UNLIMITED) },
	{ "max-size", 0, "BYTES", "refuse a client whose messages are larger (default 16m)",
	  OUR_OWN_BYTES(our_client_limits.max_size, 1, OUR_MAX_SIZE) },
	{ "max-memory", 0, "BYTES",
	  "for the buffers of all clients together (default: a quarter of the memory)",
	  OUR_BYTES(max_memory, 1, UINT64_MAX) },
	{ 0 },
};

static void check_options(const struct our_options *options)
{
	if (!options->quiet && (ignored.count || ignored.duration_s || ignored.data_size))
		our_report_sentence("-c, -s and -D do not matter here: each client says what it is "
				    "going to send");
}

static size_t tell(struct our_control *control, uint8_t *data)
{
	struct our_run *run = our_run_of(control);
	const struct our_connect_info info = {
		.count = run->count,
		.data_size = run->data_size,
		.n_data_buffers = run->n_data_buffers,
	};

	our_encode_connect_info(&info, data);
	run->agreed = true;
	return OUR_CONNECT_INFO_LENGTH;
}

static int check_connect_info(struct our_control *agent, const struct our_connect_info *info)
{
	const struct our_client_limits *limits = &our_client_limits;

	/* The client has sent no private data, and RoCE has padded them with zeros. */
	if (info->count == 0 && info->data_size == 0) {
		our_report_sentence("client refused: it wants to send 0 messages of 0 bytes; is it "
				    "a client of ping-sr-1 or later?");
		return our_note_refusal(agent, OUR_REFUSED_COUNT, limits->max_count);
	}
	if (info->count == 0 || info->count > limits->max_count) {
		our_report_sentence("client refused: it wants to send %" PRIu64
				    " messages, and 1 to %" PRIu64 " are allowed (--max-count)",
				    info->count, limits->max_count);
		return our_note_refusal(agent, OUR_REFUSED_COUNT, limits->max_count);
	}
	if (info->data_size == 0 || info->data_size > limits->max_size) {
		our_report_sentence("client refused: its messages have %" PRIu64
				    " bytes, and 1 to %" PRIu64 " are allowed (--max-size)",
				    info->data_size, limits->max_size);
		return our_note_refusal(agent, OUR_REFUSED_SIZE, limits->max_size);
	}
	return 0;
}

static int take(struct our_control *control, const struct our_cm_event *request)
{
	struct our_run *run = our_run_of(control);
	struct our_connect_info info;
	int ret;

	ret = our_decode_connect_info(request->private_data, request->private_data_length, &info);
	if (ret) {
		our_report_sentence("client refused: its private data (%u bytes) make no sense; is "
				    "it a client of ping-sr-1 or later?",
				    request->private_data_length);
		our_note_refusal(control, OUR_REFUSED_NO_SENSE, 0);
		return EPROTO;
	}
	ret = check_connect_info(control, &info);
	if (ret)
		return ret;
	run->agreed = true;
	run->count = info.count;
	run->data_size = (uint32_t)info.data_size;
	/*
	 * Only a stream has buffers, and checks their number. A number that does not fit here is
	 * more than any stream accepts.
	 */
	run->n_data_buffers = info.n_data_buffers < UINT32_MAX ? (uint32_t)info.n_data_buffers
							       : UINT32_MAX;
	run->has_extension = info.has_extension;
	return 0;
}

/* Returns the reason for a refusal that is not about what the client wants. */
static enum our_refusal_reason reason_of(int error)
{
	switch (error) {
	case EUSERS:
	case EINTR: /* we were told to stop */
		return OUR_REFUSED_BUSY;
	case EMSGSIZE: /* our_check_data_size has set the limit */
		return OUR_REFUSED_SIZE;
	case EBUSY:
	case ENOBUFS: /* too many clients wait already */
		return OUR_REFUSED_MAX_CLIENTS;
	case EDQUOT:
		return OUR_REFUSED_MEMORY;
	case EMFILE:
	case ENFILE:
		return OUR_REFUSED_DESCRIPTORS;
	default:
		return OUR_REFUSED_RESOURCES;
	}
}

static size_t refuse(struct our_control *control, int error, uint8_t *data)
{
	const struct our_session *session = our_session_of(control);
	struct our_refusal refusal = {
		.reason = (enum our_refusal_reason)session->refusal_reason,
		.limit = session->refusal_limit,
	};

	if (refusal.reason == OUR_REFUSED_NOT)
		refusal.reason = reason_of(error);
	if (refusal.reason == OUR_REFUSED_BUSY)
		refusal.limit = our_stop_requested(control->stop) ? 0
								  : session->run.options->clients;
	else if (refusal.reason == OUR_REFUSED_MAX_CLIENTS && error == EBUSY && !refusal.limit)
		refusal.limit = session->admission->max_clients;
	else if (refusal.reason == OUR_REFUSED_MEMORY)
		refusal.limit = our_memory_left(session->admission);
	our_encode_refusal(&refusal, data);
	return OUR_REFUSAL_LENGTH;
}

static void explain(const struct our_cm_event *event, char *text, size_t size)
{
	struct our_refusal refusal;

	if (our_decode_refusal(event->private_data, event->private_data_length, &refusal)) {
		snprintf(text, size, "it gave no reason");
		return;
	}
	switch (refusal.reason) {
	case OUR_REFUSED_NO_SENSE:
		snprintf(text, size, "it does not understand what we told it");
		break;
	case OUR_REFUSED_COUNT:
		snprintf(text, size, "it takes 1 to %" PRIu64 " messages (-c)", refusal.limit);
		break;
	case OUR_REFUSED_SIZE:
		snprintf(text, size, "it takes messages of 1 to %" PRIu64 " bytes (-s)",
			 refusal.limit);
		break;
	case OUR_REFUSED_BUFFERS:
		snprintf(text, size, "it takes 1 to %" PRIu64 " buffers (-b)", refusal.limit);
		break;
	case OUR_REFUSED_RESOURCES:
		snprintf(text, size, "it lacks something; its own messages say what");
		break;
	case OUR_REFUSED_BUSY:
		if (!refusal.limit) {
			snprintf(text, size, "it is leaving, and takes no more clients");
			break;
		}
		snprintf(text, size,
			 "it is busy: it was to serve %" PRIu64 " clients (-n), and has them",
			 refusal.limit);
		break;
	case OUR_REFUSED_MAX_CLIENTS:
		if (!refusal.limit) {
			snprintf(text, size, "it is busy: too many clients wait to be served");
			break;
		}
		snprintf(text, size,
			 "it is busy: it serves %" PRIu64 " clients at a time (--max-clients)",
			 refusal.limit);
		break;
	case OUR_REFUSED_MEMORY:
		snprintf(text, size,
			 "of its memory for clients %" PRIu64
			 " bytes are left (--max-memory, there)",
			 refusal.limit);
		break;
	case OUR_REFUSED_DESCRIPTORS:
		snprintf(text, size, "it has no file descriptor left (ulimit -n, where it runs)");
		break;
	default:
		snprintf(text, size, "for a reason unknown here (%d)", refusal.reason);
		break;
	}
}

const struct our_connect_info_ops our_private_data = {
	.tell = tell,
	.take = take,
	.refuse = refuse,
	.explain = explain,
	.check_options = check_options,
};
