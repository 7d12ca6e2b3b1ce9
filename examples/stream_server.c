/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Receives a stream from stream_client, writes it to stdout, and leaves. Flow control is by credits:
 * each stands for a receive that is posted, so the client, which has as many to begin with as the
 * accept says, never sends a message that finds none. The server returns a credit when it has written
 * the message and posted the receive again, many in one message: their number, four bytes, big-endian.
 *
 *     stream_server ADDRESS [PORT] >FILE
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "our_control.h"

#define RECEIVES 64
#define SIZE     65536
#define CREDITS  RECEIVES /* the buffer from which credits are sent */

/* The private data of the accept, big-endian: the most messages under way, and the size of each. */
struct terms {
	uint32_t credits, size;
};

struct stream {
	struct our_control *agent;
	uint32_t owed; /* credits: receives that were posted again, and not yet announced */
	bool telling;  /* a message with credits is under way */
	bool at_end;   /* an empty message has come */
	unsigned long messages;
};

static void report(void *context, const struct our_error *error)
{
	char text[600];

	(void)context;
	fprintf(stderr, "stream_server: %s\n", our_error_text(error, text, sizeof(text)));
}

/* Returns credits when half of the receives are owed, or, at the end, all that are owed. */
static int return_credits(struct stream *stream)
{
	uint32_t owed = htobe32(stream->owed);

	if (stream->telling || !stream->owed)
		return 0;
	if (stream->owed < RECEIVES / 2 && !stream->at_end)
		return 0;
	memcpy(stream->agent->memory.buffers[CREDITS].data, &owed, sizeof(owed));
	stream->owed = 0;
	stream->telling = true;
	return our_post_send(stream->agent, CREDITS, sizeof(owed));
}

static int take_message(struct stream *stream, uint32_t buffer, size_t length)
{
	int ret;

	if (fwrite(stream->agent->memory.buffers[buffer].data, 1, length, stdout) < length) {
		fprintf(stderr, "stream_server: writing: %s\n", strerror(errno));
		return EIO;
	}
	stream->at_end = !length;
	stream->messages++;
	ret = our_post_recv(stream->agent, buffer);
	stream->owed++;
	return ret;
}

/*
 * Receives until the end has come and the client gets all its credits back. The client then leaves,
 * perhaps before the completion of the message with the last credits.
 */
static int receive_all(struct stream *stream)
{
	struct our_completion completion;
	int ret = 0;

	while (!ret && (!stream->at_end || stream->owed)) {
		ret = our_await_completion(stream->agent, &completion);
		if (ret)
			break;
		if (our_is_recv(completion.wr_id))
			ret = take_message(stream, our_buffer_index(completion.wr_id),
					   completion.byte_len);
		else
			stream->telling = false;
		if (!ret)
			ret = return_credits(stream);
	}
	return ret;
}

static int serve(struct our_control *agent)
{
	struct terms terms = { .credits = htobe32(RECEIVES), .size = htobe32(SIZE) };
	struct stream stream = { .agent = agent };
	uint32_t i;
	int ret;

	ret = our_migrate_id(agent);
	if (!ret)
		ret = our_setup_qp(agent, 1, RECEIVES);
	if (!ret)
		ret = our_setup_buffers(agent, RECEIVES + 1, SIZE, IBV_ACCESS_LOCAL_WRITE);
	for (i = 0; !ret && i < RECEIVES; i++)
		ret = our_post_recv(agent, i);
	if (!ret)
		ret = our_agent_connect(agent, &terms, sizeof(terms));
	if (!ret)
		ret = our_report_end(agent, receive_all(&stream));
	if (ret == ECONNRESET)
		fprintf(stderr, "stream_server: the client has left before its end\n");
	if (!ret) {
		ret = our_await_disconnect(agent, 10);
		if (ret == ETIMEDOUT) /* the client stays, but has nothing more to send */
			ret = 0;
	}
	our_close(agent);
	fprintf(stderr, "stream_server: %lu messages\n", stream.messages);
	return ret;
}

static int run(const struct our_config *config, struct sockaddr *address)
{
	struct our_control *listener, *agent;
	int ret;

	ret = our_create_control_struct(config, OUR_LISTENER, &listener);
	if (!ret)
		ret = our_create_id(listener);
	if (!ret)
		ret = our_listener_bind(listener, address, 1);
	if (!ret) {
		fprintf(stderr, "stream_server: listening\n");
		ret = our_get_request(listener, &agent);
	}
	if (!ret)
		ret = serve(agent);
	our_close(listener);
	return ret;
}

int main(int argc, char **argv)
{
	struct our_config config = {
		.waiting = { .cm = &our_cm_nonblocking, .completions = &our_nonblocking_channel },
		.report = report,
		.keepalive_s = 5, /* a client may wait for its stdin, so there is no time limit */
	};
	struct addrinfo hints = { .ai_flags = AI_PASSIVE }, *address;
	int ret;

	if (argc < 2) {
		fprintf(stderr, "usage: stream_server ADDRESS [PORT] >FILE\n");
		return 2;
	}
	if (fcntl(STDOUT_FILENO, F_GETFD) < 0) { /* otherwise writes would go to the next file */
		perror("stream_server: stdout");
		return 1;
	}
	setvbuf(stdout, NULL, _IONBF, 0); /* a credit means that the data have left this program */
	ret = getaddrinfo(argv[1], argc > 2 ? argv[2] : "12321", &hints, &address);
	if (ret) {
		fprintf(stderr, "stream_server: %s: %s\n", argv[1], gai_strerror(ret));
		return 2;
	}
	signal(SIGPIPE, SIG_IGN); /* soft-iWARP raises it */
	ret = run(&config, address->ai_addr);
	freeaddrinfo(address);
	return ret ? 1 : 0;
}
