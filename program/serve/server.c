/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A server before and after its agents: it listens on the address that the user named, or on any;
 * makes an agent of a connect request, or refuses it, before anything except the control structure
 * is allocated for it; and returns the memory and place of each agent.
 */
#include <errno.h>
#include <inttypes.h>
#include <netdb.h>

#include "common/roles.h"
#include "program/config.h"
#include "program/report.h"
#include "program/serve/admission.h"
#include "program/serve/serve.h"
#include "program/serve/session.h"
#include "program/stage.h"

#define BACKLOG 1024 /* clients that wait while others are served; the kernel takes no more */

static int listen_on(struct our_control *listener, struct sockaddr *address)
{
	char text[OUR_ADDRESS_TEXT];
	int ret;

	ret = our_listener_bind(listener, address, BACKLOG);
	if (ret)
		return ret;
	ret = our_check_data_size(listener);
	if (!ret && listener->verbs && our_stage_of(listener)->check_listener)
		ret = our_stage_of(listener)->check_listener(listener);
	if (ret)
		return ret;
	if (!our_options_of(listener)->quiet)
		our_report_sentence("listening on %s", our_address_text(address, text));
	return 0;
}

/* Tries each address of a name, each with a new id, until one works. */
static int listen_on_one(struct our_control *listener, struct addrinfo **address)
{
	int ret;

	for (;;) {
		ret = our_create_id(listener);
		if (ret)
			return ret;
		ret = listen_on(listener, (*address)->ai_addr);
		if (!ret)
			return 0;
		our_destroy_id(listener);
		if (ret == EMSGSIZE || ret == EADDRINUSE || !(*address)->ai_next)
			return ret;
		*address = (*address)->ai_next;
	}
}

int our_listen(struct our_control *listener)
{
	struct addrinfo *address = our_options_of(listener)->addresses;
	bool any = !our_options_of(listener)->address;
	int ret;

	ret = listen_on_one(listener, &address);
	if (ret)
		return ret;
	/* "Any" is two addresses, one of IPv4 and one of IPv6. The server listens on both. */
	if (any && address->ai_next)
		our_listener_bind_also(listener, address->ai_next->ai_addr, BACKLOG);
	return 0;
}

/* ---- Its clients ---- */

/* Admits the client, or reports why it does not. */
static int admit(struct our_control *agent)
{
	const struct our_session *session = our_session_of(agent);
	int ret = our_admit(session->admission, session->memory);

	if (ret == EBUSY)
		our_report_sentence("client refused: %" PRIu64 " are being served (--max-clients)",
				    session->admission->max_clients);
	if (ret == EDQUOT)
		our_report_sentence("client refused: it would take %" PRIu64
				    " bytes of memory, and "
				    "%" PRIu64 " of %" PRIu64 " are left (--max-memory, and "
				    "ulimit -l)",
				    session->memory, our_memory_left(session->admission),
				    session->admission->max_memory);
	return ret;
}

/* Takes and checks the client's private data, if the stage's clients send any. */
static int take_connect_info(struct our_control *agent)
{
	const struct our_stage *stage = our_stage_of(agent);
	int ret;

	if (!stage->connect_info)
		return 0;
	ret = stage->connect_info->take(agent, &agent->cm_event);
	return ret ? ret : stage->check(agent);
}

int our_admit_client(struct our_control *listener, struct our_control **admitted)
{
	const struct our_session *server = our_session_of(listener);
	struct rdma_cm_id *cm_id = listener->cm_event.cm_id;
	struct our_control *agent;
	int ret;

	ret = our_create_session(listener->config, server->run.options, OUR_AGENT, &agent);
	if (ret) {
		our_reject_request(listener, cm_id, ret);
		our_note_failure(server->admission, ret);
		return ret;
	}
	our_session_of(agent)->admission = server->admission;
	agent->cm_event = listener->cm_event;
	our_adopt_id(agent, cm_id);
	ret = take_connect_info(agent);
	if (!ret)
		ret = our_check_data_size(agent);
	if (!ret)
		ret = admit(agent);
	if (ret)
		goto err_refuse;
	*admitted = agent;
	return 0;

err_refuse:
	our_reject_request(agent, cm_id, ret);
	our_destroy_session(agent);
	our_note_failure(server->admission, ret);
	return ret;
}

void our_release_agent(struct our_control *agent, int error)
{
	struct our_admission *admission = our_session_of(agent)->admission;
	uint64_t memory = our_session_of(agent)->memory;
	bool accepted = agent->accepted;

	our_destroy_session(agent);
	our_note_leave(admission, memory, accepted, error); /* last: the server may end now */
}

void our_reject_admitted(struct our_control *agent, int error)
{
	our_reject_request(agent, agent->cm_id, error);
	our_release_agent(agent, error);
}

void our_serve_client(struct our_control *agent)
{
	our_release_agent(agent, our_stage_of(agent)->agent(agent));
}
