/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Puts, gets and deletes values of store_server, which says how the two talk. In front of a value is a
 * checksum, by which whoever gets it knows that it is whole. The program waits in poll only.
 *
 *     store_client ADDRESS put KEY <FILE
 *     store_client ADDRESS get KEY >FILE
 *     store_client ADDRESS delete KEY
 *     store_client ADDRESS try COUNT      puts, gets and deletes as many values, several at a time
 */
#include <endian.h>
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "our_control.h"

#define PORT    "12321"
#define CREDITS 8 /* requests without an answer; the server may allow fewer */
#define MESSAGE 4096
#define SMALL   (MESSAGE - sizeof(struct header)) /* bytes of a value in a message */
#define LARGEST (1u << 20)
#define LIMIT_S 10 /* without an answer */

#define GET      1
#define PUT      2
#define DELETE   3
#define NO_VALUE 1
#define NO_ROOM  2

/* The head of each message, and the private data of the accept: see store_server.c. */
struct header {
	uint32_t kind, tag, status, length;
	uint64_t address;
	uint32_t rkey, zero;
	char key[32];
};

struct hello {
	uint64_t address;
	uint32_t rkey, credits;
};

struct value {
	uint64_t checksum;
	uint8_t data[LARGEST];
};

/* One request after the other. Its place is its tag, and the index of its value and its buffer. */
struct job {
	uint32_t kind; /* 0: none yet */
	char key[sizeof(((struct header *)0)->key)];
	uint32_t length;            /* the value's, with its checksum */
	struct ibv_mr *mr;          /* the value's, while the server may reach it */
	bool is_sending, is_asking; /* until the completion, and until the answer */
};

static struct job jobs[CREDITS];
static struct value values[CREDITS];
static struct our_control *client;
static const char *command, *word;  /* from the command line */
static unsigned long to_try, tried; /* 0: none */

static void report(void *context, const struct our_error *error)
{
	char text[600];

	(void)context;
	fprintf(stderr, "store_client: %s\n", our_error_text(error, text, sizeof(text)));
}

static int fail(const char *text)
{
	fprintf(stderr, "store_client: %s\n", text);
	return EPROTO;
}

/* Computes FNV-1a. */
static uint64_t checksum_of(const void *data, size_t length)
{
	const uint8_t *byte = data;
	uint64_t sum = 0xcbf29ce484222325;

	while (length--)
		sum = (sum ^ *byte++) * 0x100000001b3;
	return htobe64(sum);
}

/* ---- A request and its answer ---- */

/* Opens this one value, for what the server has to do with it, and until it has answered. */
static int ask(struct job *job, uint32_t kind)
{
	uint32_t index = (uint32_t)(job - jobs), size = sizeof(struct header);
	struct header *header = (struct header *)client->memory.buffers[index].data;
	uint32_t room = kind == PUT ? job->length : kind == GET ? sizeof(*values) : 0;
	int access = kind == PUT ? IBV_ACCESS_REMOTE_READ
				 : IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;

	job->kind = kind;
	job->is_sending = job->is_asking = true;
	*header = (struct header){ htobe32(kind), htobe32(index), .length = htobe32(room) };
	memcpy(header->key, job->key, sizeof(header->key));
	if (kind == PUT && room <= SMALL) {
		memcpy(header + 1, &values[index], room);
		size += room;
	} else if (room) {
		if (our_setup_mr(client, &values[index], room, access, &job->mr))
			return ENOMEM;
		header->address = htobe64((uintptr_t)&values[index]);
		header->rkey = htobe32(job->mr->rkey);
	}
	return our_post_send(client, index, size);
}

static void close_value(struct job *job)
{
	if (job->mr)
		our_unsetup_mr(client->config, job->mr);
	job->mr = NULL;
}

/* Looks at a value to which nobody can WRITE any more. */
static int take_value(struct job *job, uint32_t length)
{
	const struct value *value = &values[job - jobs];

	if (length < sizeof(value->checksum) || (to_try && length != job->length) ||
	    value->checksum != checksum_of(value->data, length - sizeof(value->checksum)))
		return fail("the value is not the one that was put");
	job->length = length;
	if (!to_try)
		fwrite(value->data, 1, length - sizeof(value->checksum), stdout);
	return 0;
}

/* Takes a message, or a WRITE with immediate data, which are the tag of a GET that is done. */
static int take_answer(const struct our_completion *completion)
{
	uint32_t index = our_buffer_index(completion->wr_id), length, behind = 0;
	const struct header *message = (struct header *)client->memory.buffers[index].data;
	struct header answer = { .kind = htobe32(GET),
				 .tag = htobe32(completion->immediate),
				 .length = htobe32(completion->byte_len) };
	struct job *job;

	if (!completion->has_immediate && completion->byte_len < sizeof(answer))
		return fail("the server's message is no answer");
	if (!completion->has_immediate) {
		answer = *message;
		behind = completion->byte_len - sizeof(answer);
	}
	length = be32toh(answer.length);
	job = be32toh(answer.tag) < CREDITS ? &jobs[be32toh(answer.tag)] : NULL;
	if (!job || !job->is_asking || be32toh(answer.kind) != job->kind ||
	    be32toh(answer.status) > NO_ROOM || length > sizeof(*values) ||
	    behind != (length > SMALL || completion->has_immediate ? 0 : length))
		return fail("the server's message is no answer");
	job->is_asking = false;
	close_value(job);
	if (answer.status)
		return fail(be32toh(answer.status) == NO_VALUE ? "the key has no value"
							       : "there is no room for the value");
	memcpy(&values[job - jobs], message + 1, behind);
	if (job->kind == GET && take_value(job, length))
		return EPROTO;
	return our_post_recv(client, index);
}

/* ---- What to ask ---- */

/* Makes values of 1 byte to 1 MiB, each with other bytes. */
static int put_another(struct job *job)
{
	struct value *value = &values[job - jobs];
	size_t i, length = LARGEST >> tried * 10 % 21;

	for (i = 0; i < length; i++)
		value->data[i] = (uint8_t)(i * (tried + 1) >> 3);
	value->checksum = checksum_of(value->data, length);
	job->length = (uint32_t)(length + sizeof(value->checksum));
	snprintf(job->key, sizeof(job->key), "%u %lu", client->qp->qp_num, tried++);
	return ask(job, PUT);
}

static int put_stdin(struct job *job)
{
	size_t length = fread(values->data, 1, LARGEST, stdin);

	if (ferror(stdin) || fgetc(stdin) != EOF)
		return fail("stdin cannot be read, or has more than 1 MiB");
	values->checksum = checksum_of(values->data, length);
	job->length = (uint32_t)(length + sizeof(values->checksum));
	return ask(job, PUT);
}

static int begin(void)
{
	struct hello hello;
	uint32_t i, credits;
	int ret = 0;

	memcpy(&hello, client->cm_event.private_data, sizeof(hello)); /* from the accept */
	credits = be32toh(hello.credits);
	if (!credits || credits > CREDITS)
		return fail("this is no store_server");
	for (i = 0; to_try && i < credits && tried < to_try && !ret; i++)
		ret = put_another(&jobs[i]);
	if (to_try)
		return ret;
	strncpy(jobs->key, word, sizeof(jobs->key) - 1);
	if (!strcmp(command, "put"))
		return put_stdin(jobs);
	return ask(jobs, *command == 'g' ? GET : DELETE);
}

static int go_on(struct job *job)
{
	if (job->is_sending || job->is_asking || !job->kind || !to_try)
		return 0;
	if (job->kind == PUT) {
		memset(&values[job - jobs], 0, job->length);
		return ask(job, GET);
	}
	if (job->kind == GET)
		return ask(job, DELETE);
	job->kind = 0;
	return tried < to_try ? put_another(job) : 0;
}

/* When nothing is under way, all is done. */
static int take_completion(const struct our_completion *completion)
{
	struct job *job = &jobs[our_buffer_index(completion->wr_id) % CREDITS];
	int i, ret = 0;

	if (our_is_recv(completion->wr_id))
		ret = take_answer(completion);
	else
		job->is_sending = false;
	for (i = 0; i < CREDITS && !ret; i++)
		ret = go_on(&jobs[i]);
	for (i = 0; i < CREDITS && !ret; i++) {
		if (jobs[i].is_sending || jobs[i].is_asking)
			return 0;
	}
	if (!ret && to_try)
		printf("%lu values put, got and deleted\n", tried);
	if (!ret)
		our_start_disconnect(client);
	return ret;
}

/* ---- The loop ---- */

static int set_up_and_connect(void)
{
	uint32_t i;
	int ret = our_setup_qp(client, CREDITS, CREDITS);

	if (!ret)
		ret = our_setup_buffers(client, 2 * CREDITS, MESSAGE, IBV_ACCESS_LOCAL_WRITE);
	for (i = CREDITS; i < 2 * CREDITS && !ret; i++)
		ret = our_post_recv(client, i);
	return ret ? ret : our_start_connect(client, NULL, 0);
}

/* Returns 0, EINTR at the end, or another errno value. */
static int react(const struct our_event *event)
{
	switch (event->type) {
	case OUR_EVENT_RESOLVED:
		return set_up_and_connect();
	case OUR_EVENT_ESTABLISHED:
		return begin();
	case OUR_EVENT_COMPLETION:
		return take_completion(&event->completion);
	case OUR_EVENT_END:
		if (event->error == ECONNRESET)
			fail("the server has left");
		return event->error ? event->error : EINTR;
	default:
		return 0;
	}
}

static int loop(struct our_poll_group *group)
{
	struct pollfd events = { .fd = our_fd(group), .events = POLLIN };
	time_t heard = time(NULL);
	struct our_event event;
	int ret = 0;

	while (!ret) {
		ret = our_process(group, &event);
		if (!ret) {
			heard = time(NULL);
			ret = react(&event);
		} else if (ret == EAGAIN) {
			ret = poll(&events, 1, 1000) < 0 && errno != EINTR ? errno : 0;
			if (!ret && time(NULL) > heard + LIMIT_S)
				ret = fail("the server does not answer");
		}
		if (ret == ECONNRESET && event.type != OUR_EVENT_END)
			ret = 0; /* a post says this: the end comes with the cause */
	}
	return ret == EINTR ? 0 : ret;
}

static int run(const struct our_config *config, struct sockaddr *server)
{
	struct our_poll_group *group;
	int i, ret;

	ret = our_create_poll_group(config, &group);
	if (!ret)
		ret = our_create_control_struct(config, OUR_CLIENT, &client);
	if (!ret)
		ret = our_join_poll_group(client, group);
	if (!ret)
		ret = our_create_id(client);
	if (!ret)
		ret = our_start_bind(client, server);
	if (!ret)
		ret = loop(group);
	if (client)
		our_disconnect(client); /* from now on the server reaches nothing */
	for (i = 0; i < CREDITS; i++)
		close_value(&jobs[i]);
	our_close(client);
	our_close_poll_group(group);
	return ret;
}

/* Returns whether the command line is right; if not, prints the usage. */
static bool is_usage(int argc, char **argv)
{
	bool of_key;

	command = argc > 2 ? argv[2] : "";
	word = argc > 3 ? argv[3] : "";
	of_key = !strcmp(command, "put") || !strcmp(command, "get") || !strcmp(command, "delete");
	if (argc == 4 && !strcmp(command, "try") && strspn(word, "0123456789") == strlen(word))
		to_try = strtoul(word, NULL, 10);
	if (to_try || (argc == 4 && of_key && *word && strlen(word) < sizeof(jobs->key)))
		return true;
	fprintf(stderr,
		"usage: store_client ADDRESS put KEY <FILE | get KEY | delete KEY | try COUNT\n"
		"A KEY has at most 31 bytes, and a value 1 MiB.\n");
	return false;
}

int main(int argc, char **argv)
{
	struct our_config config = {
		.waiting = { .cm = &our_cm_nonblocking, .completions = &our_nonblocking_channel },
		.report = report,
		.timeout_s = LIMIT_S,
	};
	struct addrinfo *server;
	int ret;

	if (!is_usage(argc, argv))
		return 2;
	ret = getaddrinfo(argv[1], PORT, NULL, &server);
	if (ret) {
		fprintf(stderr, "store_client: %s: %s\n", argv[1], gai_strerror(ret));
		return 2;
	}
	signal(SIGPIPE, SIG_IGN); /* soft-iWARP raises it */
	ret = run(&config, server->ai_addr);
	freeaddrinfo(server);
	if (fflush(stdout)) {
		perror("store_client: stdout");
		ret = EIO;
	}
	return ret ? 1 : 0;
}
