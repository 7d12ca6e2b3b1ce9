/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A client that outlives its connection. Its messages have numbers, and some are under way at a time. When
 * the connection breaks, it connects anew and sends again what has no answer, in order. The server may
 * see a message twice: echo_server does no harm by that.
 *
 *     reconnect_client ADDRESS [PORT [COUNT]]
 */
#include <errno.h>
#include <inttypes.h>
#include <netdb.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "our_control.h"

#define WINDOW  4 /* messages under way; a buffer for each, and behind them one for each answer */
#define LIMIT_S 60

struct session {
	struct our_reconnect how; /* .next: of all messages; .confirmed: those with an answer */
	uint64_t completed;       /* sends, which complete in order: their buffers are free */
	unsigned int connections;
};

static char said[600]; /* the last report since the client was connected */

/* Says once what each attempt meets in turn: a server that is away refuses many. */
static void report(void *context, const struct our_error *error)
{
	char text[sizeof(said)];

	(void)context;
	our_error_text(error, text, sizeof(text));
	if (strcmp(text, said))
		fprintf(stderr, "reconnect_client: %s\n", text);
	strcpy(said, text);
}

/* Called for each connection. */
static int post_and_connect(struct our_control *client)
{
	struct session *session = client->user;
	uint32_t i;
	int ret = 0;

	for (i = 0; i < WINDOW && !ret; i++)
		ret = our_post_recv(client, WINDOW + i);
	if (!ret)
		ret = our_client_connect(client, NULL, 0);
	session->completed = session->how.confirmed; /* the messages after it are sent again */
	if (ret)
		return ret;
	session->connections++;
	*said = '\0';
	return 0;
}

static int send_message(struct our_control *client, uint64_t number)
{
	uint32_t index = (uint32_t)(number % WINDOW);

	memcpy(client->memory.buffers[index].data, &number, sizeof(number));
	return our_post_send(client, index, sizeof(number));
}

static bool may_send(const struct session *session, uint64_t count)
{
	return session->how.next < count && session->how.next < session->how.confirmed + WINDOW &&
	       session->how.next < session->completed + WINDOW;
}

/* A reliable connection keeps the order, and so does the repetition: the next answer is known. */
static int take_completion(struct our_control *client, struct session *session)
{
	struct our_completion completion;
	uint64_t number;
	uint32_t index;
	int ret;

	ret = our_await_completion(client, &completion);
	if (ret)
		return ret;
	if (!our_is_recv(completion.wr_id)) {
		session->completed++;
		return 0;
	}
	index = our_buffer_index(completion.wr_id);
	memcpy(&number, client->memory.buffers[index].data, sizeof(number));
	if (completion.byte_len != sizeof(number) || number != session->how.confirmed) {
		fprintf(stderr, "reconnect_client: %" PRIu64 " came in place of %" PRIu64 "\n",
			number, session->how.confirmed);
		return EPROTO;
	}
	session->how.confirmed++;
	return our_post_recv(client, index);
}

static int exchange(struct our_control *client, struct session *session, uint64_t count)
{
	int ret = 0;

	while (!ret && session->how.confirmed < count) {
		if (may_send(session, count))
			ret = send_message(client, session->how.next++);
		else
			ret = take_completion(client, session);
		if (ret)
			ret = our_report_end(client, ret);
		if (ret)
			ret = our_reconnect(client, &session->how, ret);
	}
	client->complete = !ret;
	printf("%" PRIu64 " answers over %u connections\n", session->how.confirmed,
	       session->connections);
	return ret;
}

static int run(const struct our_config *config, struct sockaddr *server, uint64_t count)
{
	struct session session = { .how = {
					   .server = server,
					   .connect = post_and_connect,
					   .repeat = send_message,
					   .limit_s = LIMIT_S,
				   } };
	struct our_control *client;
	int ret;

	ret = our_create_control_struct(config, OUR_CLIENT, &client);
	if (ret)
		return ret;
	client->user = &session;
	ret = our_create_id(client);
	if (!ret)
		ret = our_client_bind(client, server);
	if (!ret)
		ret = our_setup_qp(client, WINDOW, WINDOW);
	if (!ret)
		ret = our_setup_buffers(client, 2 * WINDOW, sizeof(uint64_t),
					IBV_ACCESS_LOCAL_WRITE);
	if (!ret)
		ret = post_and_connect(client);
	if (ret == ETIMEDOUT || ret == EHOSTUNREACH) /* a server that is not started is no flap */
		ret = our_reconnect(client, &session.how, ret);
	if (!ret)
		ret = exchange(client, &session, count);
	our_close(client);
	return ret;
}

int main(int argc, char **argv)
{
	struct our_config config = {
		.waiting = { .cm = &our_cm_nonblocking, .completions = &our_nonblocking_channel },
		.report = report,
		.timeout_s = 10,
		.keepalive_s = 5,
	};
	uint64_t count = argc > 3 ? strtoull(argv[3], NULL, 10) : 1000;
	struct addrinfo *server;
	int ret;

	if (argc < 2 || !count) {
		fprintf(stderr, "usage: reconnect_client ADDRESS [PORT [COUNT]]\n");
		return 2;
	}
	ret = getaddrinfo(argv[1], argc > 2 ? argv[2] : "12321", NULL, &server);
	if (ret) {
		fprintf(stderr, "reconnect_client: %s: %s\n", argv[1], gai_strerror(ret));
		return 2;
	}
	signal(SIGPIPE, SIG_IGN); /* soft-iWARP raises it */
	ret = run(&config, server->ai_addr, count);
	freeaddrinfo(server);
	if (ret == EHOSTDOWN)
		fprintf(stderr, "reconnect_client: gave up after %d s\n", LIMIT_S);
	if (fflush(stdout)) {
		perror("reconnect_client: stdout");
		ret = EIO;
	}
	return ret ? 1 : 0;
}
