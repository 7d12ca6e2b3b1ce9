/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What a flattened program says of errors: the same functions as in common/, with the causes that are
 * most likely, in one line each. A function here is taken instead of the tree's of the same name.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "common/cm_event.h"
#include "common/connection_management.h"
#include "common/device.h"
#include "common/stage.h"
#include "common/transfer_completion.h"
#include "common/transfer_posting.h"
#include "program/addresses.h"
#include "program/report.h"

/* With what limits there may be. Some drivers leave errno alone when they fail: `error` 0. */
int our_report_no_queue(const struct our_control *control, const char *call, int error)
{
	return our_report_error(call, error ? error : ENOMEM,
				"%u sends and %u receives were wanted: ibv_devinfo -v has the "
				"limits, of the device and for all programs together",
				control->max_send_wr, control->max_recv_wr);
}

static int report_reg_mr(int error, size_t length)
{
	return our_report_error("ibv_reg_mr", error,
				"%zu bytes: is the limit on locked memory too low (ulimit -l)?",
				length);
}

static const char *wc_status_advice(const struct ibv_wc *wc)
{
	switch (wc->status) {
	case IBV_WC_LOC_QP_OP_ERR:
	case IBV_WC_LOC_LEN_ERR:
	case IBV_WC_REM_INV_REQ_ERR:
	case IBV_WC_REM_OP_ERR:
		return "the message is longer than the receive it met, or the link is down";
	case IBV_WC_RETRY_EXC_ERR:
		return "the peer does not answer: its host, its process or the network is gone";
	case IBV_WC_RNR_RETRY_EXC_ERR:
		return "the peer had no receive posted, again and again";
	default:
		return "see ibv_poll_cq(3)";
	}
}

void our_report_wc_status(const struct ibv_wc *wc)
{
	our_report_sentence("completion of a %s: %s (status %d, vendor 0x%x): %s",
			    our_is_recv(wc->wr_id) ? "receive" : "send",
			    ibv_wc_status_str(wc->status), wc->status, wc->vendor_err,
			    wc_status_advice(wc));
}

int our_check_length(const struct our_control *control, const struct our_completion *completion)
{
	if (completion->byte_len == control->data_size)
		return 0;
	our_report_sentence(
		"a message of %u bytes came where %u were due: has the peer the same -s?",
		completion->byte_len, control->data_size);
	return EPROTO;
}

static void report_end(struct our_control *control, int ret, uint64_t messages)
{
	const char *why = ret == ECONNRESET     ? "the peer left"
			  : ret == ENODEV       ? "the RDMA device was removed"
			  : ret == EHOSTUNREACH ? "the peer cannot be reached any more"
			  : ret == ETIMEDOUT    ? "the peer said nothing for too long"
			  : ret == ECANCELED    ? "a work request was flushed: is the link up?"
						: NULL;

	if (why)
		our_report_sentence("%s, after %" PRIu64 " messages", why, messages);
}

static int report_address(const char *call, int error, const struct sockaddr *address,
			  const char *event)
{
	char text[OUR_ADDRESS_TEXT];

	our_address_text(address, text);
	if (error == ENODEV || error == EADDRNOTAVAIL)
		return our_report_error(call, error,
					"%s: no RDMA device serves it (rdma link lists them), or "
					"another program listens there",
					text);
	return our_report_error(call, error, "%s", text);
}

/* The id knows who the peer is. */
static void describe(const struct ibv_async_event *event, enum element element,
		     const struct our_control *owner, char *text, size_t size)
{
	char peer[OUR_ADDRESS_TEXT];

	*text = '\0';
	if (element == OF_PORT)
		snprintf(text, size, ", port %d", event->element.port_num);
	if (owner)
		snprintf(text, size, ", %s of the connection with %s",
			 element == OF_QP ? "QP" : "CQ",
			 our_address_text(rdma_get_peer_addr(owner->cm_id), peer));
}

int our_report_no_channel(int error)
{
	return our_report_error("rdma_create_event_channel", error, OUR_NO_DEVICE_ADVICE);
}

/* Not with the event's name: the errno value says as much. */
const char *our_cm_event_name(const struct our_control *control, int error)
{
	return "";
}

/* The peer may have left first, or the device have gone: then nothing is left to end. */
static void report_disconnect(int error)
{
	if (error && error != EINVAL && error != EINTR && error != ECONNRESET &&
	    error != ETIMEDOUT && error != ENODEV && error != ENXIO)
		our_report_error("rdma_disconnect", error, NULL);
}

/* A client that is refused is not told why: the server says so itself. */
uint8_t our_setup_refusal(struct our_control *control, int error)
{
	return 0;
}

void our_explain_refusal(const struct our_control *control, char *text, size_t size)
{
	snprintf(text, size, "its own messages say why");
}

/* Without -a only the first family of addresses is listened to. */
int our_listener_bind_also(struct our_control *control, struct sockaddr *address, int backlog)
{
	return 0;
}
