/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Sends stdin to stream_server as messages, as many at a time as it has credits: see stream_server.c.
 * An empty message is the end; the server has written everything when all credits are back.
 *
 *     stream_client ADDRESS [PORT] <FILE
 */
#include <endian.h>
#include <errno.h>
#include <netdb.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "our_control.h"

#define SENDS    64 /* messages to send, until their completions come */
#define SIZE     65536
#define RECEIVES 2 /* for credits: a server sends at most a message for each half of them */

/* The private data of the accept, big-endian: the most messages under way, and the size of each. */
struct terms {
	uint32_t credits, size;
};

struct stream {
	struct our_control *client;
	uint32_t size; /* bytes in a message */
	uint32_t all_credits, credits;
	unsigned long sent, completed; /* messages: message n is in buffer n % SENDS */
	unsigned long waits;           /* for credits, with everything else at hand */
	bool at_end;                   /* the empty message was sent */
};

static void report(void *context, const struct our_error *error)
{
	char text[600];

	(void)context;
	fprintf(stderr, "stream_client: %s\n", our_error_text(error, text, sizeof(text)));
}

/* Fills a message from stdin, and sends it. An empty message is the end. */
static int send_next(struct stream *stream)
{
	uint32_t buffer = (uint32_t)(stream->sent % SENDS);
	uint8_t *data = stream->client->memory.buffers[buffer].data;
	size_t length = fread(data, 1, stream->size, stdin);

	if (ferror(stdin)) {
		fprintf(stderr, "stream_client: reading: %s\n", strerror(errno));
		return EIO;
	}
	stream->at_end = !length;
	stream->credits--;
	stream->sent++;
	return our_post_send(stream->client, buffer, (uint32_t)length);
}

/* Posts the receive again before it uses the credits: the server may then send more of them. */
static int take_credits(struct stream *stream, const struct our_completion *completion)
{
	uint32_t buffer = our_buffer_index(completion->wr_id), credits;
	int ret;

	memcpy(&credits, stream->client->memory.buffers[buffer].data, sizeof(credits));
	credits = be32toh(credits);
	if (completion->byte_len != sizeof(credits) ||
	    credits > stream->all_credits - stream->credits) {
		fprintf(stderr, "stream_client: the server returns more credits than we used\n");
		return EPROTO;
	}
	ret = our_post_recv(stream->client, buffer);
	stream->credits += credits;
	return ret;
}

static int wait_for_something(struct stream *stream)
{
	struct our_completion completion;
	int ret;

	ret = our_await_completion(stream->client, &completion);
	if (ret)
		return ret;
	if (our_is_recv(completion.wr_id))
		return take_credits(stream, &completion);
	stream->completed++;
	return 0;
}

/* A credit shows that a receive is posted; only the completion shows that the buffer is free. */
static int send_all(struct stream *stream)
{
	bool has_buffer;
	int ret = 0;

	while (!ret && (!stream->at_end || stream->credits < stream->all_credits)) {
		has_buffer = stream->sent - stream->completed < SENDS;
		if (!stream->at_end && stream->credits && has_buffer) {
			ret = send_next(stream);
		} else {
			stream->waits += !stream->at_end && has_buffer;
			ret = wait_for_something(stream);
		}
	}
	return ret;
}

static int stream_stdin(struct our_control *client)
{
	struct stream stream = { .client = client };
	struct terms terms;
	int ret;

	memcpy(&terms, client->cm_event.private_data, sizeof(terms)); /* from the accept */
	stream.size = be32toh(terms.size) < SIZE ? be32toh(terms.size) : SIZE;
	stream.all_credits = stream.credits = be32toh(terms.credits);
	if (!stream.size || !stream.credits) {
		fprintf(stderr, "stream_client: this is no stream_server\n");
		return EPROTO;
	}
	client->wait_until_ns = UINT64_MAX; /* it may be slow; keepalives notice its end */
	ret = our_report_end(client, send_all(&stream));
	if (ret == ECONNRESET)
		fprintf(stderr, "stream_client: the server has left\n");
	fprintf(stderr, "stream_client: %lu messages, waited for credits %lu times\n", stream.sent,
		stream.waits);
	client->complete = !ret;
	return ret;
}

static int run(const struct our_config *config, struct sockaddr *server)
{
	struct our_control *client;
	uint32_t i;
	int ret;

	ret = our_create_control_struct(config, OUR_CLIENT, &client);
	if (!ret)
		ret = our_create_id(client);
	if (!ret)
		ret = our_client_bind(client, server);
	if (!ret)
		ret = our_setup_qp(client, SENDS, RECEIVES);
	if (!ret)
		ret = our_setup_buffers(client, SENDS + RECEIVES, SIZE, IBV_ACCESS_LOCAL_WRITE);
	for (i = 0; !ret && i < RECEIVES; i++)
		ret = our_post_recv(client, SENDS + i);
	if (!ret)
		ret = our_client_connect(client, NULL, 0);
	if (!ret)
		ret = stream_stdin(client);
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
	struct addrinfo *server;
	int ret;

	if (argc < 2) {
		fprintf(stderr, "usage: stream_client ADDRESS [PORT] <FILE\n");
		return 2;
	}
	ret = getaddrinfo(argv[1], argc > 2 ? argv[2] : "12321", NULL, &server);
	if (ret) {
		fprintf(stderr, "stream_client: %s: %s\n", argv[1], gai_strerror(ret));
		return 2;
	}
	signal(SIGPIPE, SIG_IGN); /* soft-iWARP raises it */
	ret = run(&config, server->ai_addr);
	freeaddrinfo(server);
	return ret ? 1 : 0;
}
