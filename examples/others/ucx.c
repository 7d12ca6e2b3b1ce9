/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The echo on UCP, of UCX, with messages that have a tag, asleep in poll(2) on the worker's
 * descriptor. Messages belong to the worker, not to a connection; `on_error` hears of its end.
 */
#include <netdb.h>
#include <poll.h>
#include <string.h>

#include <ucp/api/ucp.h>

#include "echo.h"

#define TAG 1

struct end {
	ucp_context_h context;
	ucp_worker_h worker;
	ucp_ep_h ep;
	ucp_conn_request_h request; /* from the server's client */
	int fd;                     /* readable if there is progress to be made */
	bool lost;
};

static void ok(ucs_status_t status, const char *call)
{
	must(status == UCS_OK, call, ucs_status_string(status));
}

static void on_error(void *end, ucp_ep_h ep, ucs_status_t status)
{
	(void)ep;
	(void)status;
	((struct end *)end)->lost = true;
}

static void on_request(ucp_conn_request_h request, void *end)
{
	((struct end *)end)->request = request;
}

static void open_end(struct end *end)
{
	ucp_params_t params = {
		.field_mask = UCP_PARAM_FIELD_FEATURES,
		.features = UCP_FEATURE_TAG | UCP_FEATURE_WAKEUP,
	};
	ucp_worker_params_t worker_params = { 0 };
	ucp_config_t *config;

	ok(ucp_config_read(NULL, NULL, &config), "ucp_config_read");
	/* Without this UCX chooses, and may take shared memory if the peer is on the same host. */
	ok(ucp_config_modify(config, "TLS", "rc_verbs"), "ucp_config_modify");
	ok(ucp_config_modify(config, "SOCKADDR_TLS_PRIORITY", "rdmacm"), "ucp_config_modify");
	ok(ucp_init(&params, config, &end->context), "ucp_init");
	ucp_config_release(config);
	ok(ucp_worker_create(end->context, &worker_params, &end->worker), "ucp_worker_create");
	ok(ucp_worker_get_efd(end->worker, &end->fd), "ucp_worker_get_efd");
}

/*
 * Makes progress, or sleeps until there is some to be made. soft-RoCE makes no event of what came
 * just before ucp_worker_arm, which does not look for it, so this looks twice.
 */
static void make_progress(struct end *end)
{
	struct pollfd fd = { end->fd, POLLIN, 0 };

	if (!ucp_worker_progress(end->worker) && ucp_worker_arm(end->worker) == UCS_OK &&
	    !ucp_worker_progress(end->worker))
		poll(&fd, 1, -1);
}

static void create_ep(struct end *end, ucp_ep_params_t *params)
{
	params->field_mask |= UCP_EP_PARAM_FIELD_ERR_HANDLER | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE;
	params->err_mode = UCP_ERR_HANDLING_MODE_PEER;
	params->err_handler.cb = on_error;
	params->err_handler.arg = end;
	ok(ucp_ep_create(end->worker, params, &end->ep), "ucp_ep_create");
}

/* Sleeps until the request is done; returns false if the peer has left. *length: of a receive. */
static bool finish(struct end *end, void *request, size_t *length)
{
	ucp_tag_recv_info_t info;
	ucs_status_t status;

	if (!request)
		return true;
	if (UCS_PTR_IS_ERR(request))
		return false;
	while ((status = ucp_request_check_status(request)) == UCS_INPROGRESS) {
		if (end->lost) /* UCP ends only sends, because a receive is from any peer */
			ucp_request_cancel(end->worker, request);
		make_progress(end);
	}
	if (length && ucp_tag_recv_request_test(request, &info) == UCS_OK)
		*length = info.length;
	ucp_request_free(request);
	return status == UCS_OK;
}

static void *receive(struct end *end, void *data)
{
	ucp_request_param_t param = { .op_attr_mask = UCP_OP_ATTR_FLAG_NO_IMM_CMPL };

	return ucp_tag_recv_nbx(end->worker, data, MAX_SIZE, TAG, (ucp_tag_t)-1, &param);
}

static void *send_message(struct end *end, size_t size)
{
	ucp_request_param_t param = { 0 };

	return ucp_tag_send_nbx(end->ep, buffers[0], size, TAG, &param);
}

static void close_end(struct end *end)
{
	ucp_request_param_t param = {
		.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
		.flags = end->lost ? UCP_EP_CLOSE_FLAG_FORCE : 0,
	};

	finish(end, ucp_ep_close_nbx(end->ep, &param), NULL);
	ucp_worker_destroy(end->worker);
	ucp_cleanup(end->context);
}

void server(const char *address, const char *port)
{
	struct addrinfo *own = resolve(address, port);
	ucp_listener_params_t params = {
		.field_mask = UCP_LISTENER_PARAM_FIELD_SOCK_ADDR |
			      UCP_LISTENER_PARAM_FIELD_CONN_HANDLER,
		.sockaddr = { own->ai_addr, own->ai_addrlen },
	};
	ucp_ep_params_t ep_params = { .field_mask = UCP_EP_PARAM_FIELD_CONN_REQUEST };
	struct end end = { 0 };
	size_t length = 0;
	ucp_listener_h listener;

	params.conn_handler.cb = on_request;
	params.conn_handler.arg = &end;
	open_end(&end);
	ok(ucp_listener_create(end.worker, &params, &listener), "ucp_listener_create");
	say_listening();
	while (!end.request)
		make_progress(&end);
	ep_params.conn_request = end.request;
	create_ep(&end, &ep_params);
	while (finish(&end, receive(&end, buffers[0]), &length) &&
	       finish(&end, send_message(&end, length), NULL))
		;
	ucp_listener_destroy(listener);
	close_end(&end);
	freeaddrinfo(own);
}

static bool ping(struct end *end)
{
	void *answer = receive(end, buffers[1]);
	bool sent = finish(end, send_message(end, message_size), NULL);

	return finish(end, answer, NULL) && sent;
}

void client(const char *address, const char *port)
{
	struct addrinfo *peer = resolve(address, port);
	ucp_ep_params_t params = {
		.field_mask = UCP_EP_PARAM_FIELD_FLAGS | UCP_EP_PARAM_FIELD_SOCK_ADDR,
		.flags = UCP_EP_PARAMS_FLAGS_CLIENT_SERVER,
		.sockaddr = { peer->ai_addr, peer->ai_addrlen },
	};
	struct end end = { 0 };

	open_end(&end);
	create_ep(&end, &params);
	while (next_message() && ping(&end))
		check_answer();
	close_end(&end);
	freeaddrinfo(peer);
}
