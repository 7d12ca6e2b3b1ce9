/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * A ping-pong over two paths, two devices or two ports: one connection carries the messages, and the
 * other stands idle and is watched. When the first breaks, the messages go on over the second, from the
 * first without an answer on; and they move back. The server is that of ping-reconnect-2, which does
 * nothing twice. A whole program, of the library alone: main is at the end.
 *
 *     ping-failover-2/client FIRST_ADDRESS SECOND_ADDRESS COUNT [PAUSE_MS]
 */
#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "our_control.h"

#define PORT       "12321"
#define SIZE       64
#define MS         1000000ull /* ns */
#define CONNECT_MS 2000       /* limit for a connection to be made */
#define ANSWER_MS  2000       /* limit for an answer; after it the path counts as broken */
#define BACK_MS    1000 /* the first path has to stand this long before the session moves back */
#define GIVE_UP_S  60   /* the session ends after this time without any path */
#define FOREVER    1000000000000 /* a count without limit: docs/protocol.md */

enum buffer {
	SENT,
	RECEIVED,
	N_BUFFERS
};

enum state {
	DOWN,
	CONNECTING,
	UP
};

struct path {
	const char *address;
	struct addrinfo *server;
	struct our_control *client; /* NULL: DOWN */
	enum state state;
	bool carries;                /* carries the session's messages; else the path is idle */
	uint64_t then_ns;            /* DOWN: try again then; CONNECTING: give up then; UP: since */
	struct our_reconnect pauses; /* the pauses between attempts */
};

struct session {
	const struct our_config *config,
		*quiet;                /* for the path that carries, and for an idle one */
	struct path paths[2], *active; /* NULL: none was connected yet */
	uint64_t name;           /* the server knows all connections of the session by this name */
	uint64_t message, count; /* the first message without an answer; all messages */
	uint64_t answered_ns, longest_ns;
	unsigned int moves;
};

static struct our_stop *stop;

static void ask_to_stop(int number)
{
	(void)number;
	our_stop_request(stop);
}

static char said[600]; /* the last report since a path was found */

/* Says once what each attempt meets in turn. */
static void report(void *context, const struct our_error *error)
{
	char text[sizeof(said)];

	(void)context;
	our_error_text(error, text, sizeof(text));
	if (strcmp(text, said))
		fprintf(stderr, "ping-failover-2: %s\n", text);
	strcpy(said, text);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Sleeps until there is a CM event for `client` (unless NULL), or a stop, or until `then_ns`. */
static void sleep_until(const struct our_control *client, uint64_t then_ns)
{
	struct pollfd fds[] = {
		{ .fd = our_stop_fd(stop), .events = POLLIN },
		{ .fd = client ? our_cm_fd(client) : -1, .events = POLLIN },
	};
	uint64_t now = now_ns();

	poll(fds, 2, then_ns > now ? (int)((then_ns - now) / MS + 1) : 0);
}

/* ---- A path ---- */

/* Tells the peer, and does not wait for its answer, because this path may be dead. */
static void take_down(struct path *path)
{
	if (path->client) {
		our_start_disconnect(path->client);
		our_close(path->client);
	}
	path->client = NULL;
	path->state = DOWN;
	path->then_ns = now_ns() + our_pause_ms(&path->pauses) * MS;
}

static int fail(struct path *path, int error)
{
	if (path->state == UP)
		fprintf(stderr, "ping-failover-2: %s: %s\n", path->address, strerror(error));
	path->pauses.failed = path->state == UP ? 0 : path->pauses.failed + 1;
	take_down(path);
	return error;
}

static int begin(const struct session *session, struct path *path, bool carries)
{
	int ret;

	take_down(path);
	path->carries = carries;
	ret = our_create_control_struct(carries ? session->config : session->quiet, OUR_CLIENT,
					&path->client);
	if (!ret)
		ret = our_create_id(path->client);
	if (!ret)
		ret = our_start_bind(path->client, path->server->ai_addr);
	path->state = CONNECTING;
	path->then_ns = now_ns() + CONNECT_MS * MS;
	return ret;
}

/* Sends the private data of ping-reconnect-2: docs/protocol.md. An idle path has no name. */
static int connect_it(const struct session *session, struct path *path)
{
	uint64_t count = path->carries ? session->count - session->message : FOREVER;
	const uint64_t words[] = {
		htobe64(count),
		htobe64(SIZE),
		0,
		htobe64(0x4f555231ull << 32 | 2 << 16 | 48),
		htobe64(path->carries ? session->name : 0),
		htobe64(path->carries ? session->message : 0),
	};
	int ret;

	/* An answer may come before its send has completed, and a move before either. */
	ret = our_setup_qp(path->client, 2, 1);
	if (!ret)
		ret = our_setup_buffers(path->client, N_BUFFERS, SIZE, IBV_ACCESS_LOCAL_WRITE);
	if (!ret)
		ret = our_post_recv(path->client, RECEIVED);
	return ret ? ret : our_start_connect(path->client, words, sizeof(words));
}

/* Does what the next CM event calls for; never waits. Returns an errno value if the path broke. */
static int step(const struct session *session, struct path *path)
{
	struct our_control *about;
	int ret = our_take_cm_event(path->client, &about);

	if (ret == EAGAIN)
		return path->state == CONNECTING && now_ns() >= path->then_ns ? ETIMEDOUT : 0;
	if (ret)
		return ret;
	switch (about->cm_event.type) {
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		return connect_it(session, path);
	case RDMA_CM_EVENT_ESTABLISHED:
		path->state = UP;
		path->then_ns = now_ns();
		return 0;
	default:
		return about->ended ? about->ended : 0;
	}
}

/* Connects the idle path, again and again, and asks the peer's host for a sign of life. */
static void look_after(const struct session *session, struct path *path)
{
	int timeout_ms, ret = 0;

	if (path->state != DOWN)
		ret = step(session, path);
	else if (now_ns() >= path->then_ns)
		ret = begin(session, path, false);
	if (!ret && path->state == UP)
		ret = our_look_after(path->client, &timeout_ms);
	if (ret)
		fail(path, ret);
}

/* ---- The session ---- */

/*
 * Makes the connection of `path` anew: its request says at which message the session goes on. The
 * other path, if it still stands, is idle from then on.
 */
static int move_to(struct session *session, struct path *path)
{
	struct path *other = &session->paths[path == session->paths];
	int ret = begin(session, path, true);

	while (!ret && path->state == CONNECTING && !our_stop_requested(stop)) {
		sleep_until(path->client, path->then_ns);
		ret = step(session, path);
	}
	if (our_stop_requested(stop))
		return EINTR;
	if (ret)
		return fail(path, ret);
	if (session->active) {
		session->moves++;
		fprintf(stderr, "ping-failover-2: goes on over %s with message %" PRIu64 "\n",
			path->address, session->message);
	}
	if (other->state == UP && other->carries)
		take_down(other);
	session->active = path;
	*said = '\0';
	return 0;
}

/* Tries the other path first, then each in turn, until one works. */
static int find_path(struct session *session)
{
	uint64_t until_ns = now_ns() + GIVE_UP_S * 1000 * MS;
	struct path *path = session->active ? session->active : &session->paths[1];
	int ret;

	do {
		path = &session->paths[path == session->paths];
		ret = move_to(session, path);
		if (ret && ret != EINTR)
			sleep_until(NULL, path->then_ns);
	} while (ret && ret != EINTR && now_ns() < until_ns);
	if (ret && ret != EINTR)
		fprintf(stderr, "ping-failover-2: gave up: no path for %d s\n", GIVE_UP_S);
	return ret;
}

/* Sends one message and gets it back. Send and receive complete in either order. */
static int exchange(struct session *session)
{
	struct our_control *client = session->active->client;
	struct our_completion completion;
	uint64_t number = htobe64(session->message);
	int left, ret;

	memcpy(client->memory.buffers[SENT].data, &number, sizeof(number));
	client->wait_until_ns = now_ns() + ANSWER_MS * MS;
	ret = our_post_send(client, SENT, SIZE);
	for (left = 2; !ret && left; left--) {
		ret = our_await_completion(client, &completion);
		if (ret || !our_is_recv(completion.wr_id))
			continue;
		if (completion.byte_len != SIZE ||
		    memcmp(client->memory.buffers[RECEIVED].data, &number, sizeof(number)))
			return EPROTO;
	}
	return ret ? ret : our_post_recv(client, RECEIVED);
}

static void count_answer(struct session *session)
{
	uint64_t now = now_ns();

	if (session->message && now - session->answered_ns > session->longest_ns)
		session->longest_ns = now - session->answered_ns;
	session->answered_ns = now;
	session->message++;
}

static int exchange_all(struct session *session, uint64_t pause_ms)
{
	struct path *first = session->paths;
	int ret = find_path(session);

	while (!ret && session->message < session->count && !our_stop_requested(stop)) {
		look_after(session, &session->paths[session->active == first]);
		if (session->active != first && first->state == UP &&
		    now_ns() - first->then_ns > BACK_MS * MS)
			move_to(session, first); /* if that fails, the session stays */
		ret = exchange(session);
		if (!ret) {
			count_answer(session);
			if (pause_ms)
				sleep_until(NULL, now_ns() + pause_ms * MS);
		} else if (ret != EPROTO && ret != EINTR) { /* also after a device was removed */
			fail(session->active, ret);
			ret = find_path(session);
		}
	}
	printf("%" PRIu64 " answers, %u moves, at most %.1f ms between two answers\n",
	       session->message, session->moves, (double)session->longest_ns / 1e6);
	return ret;
}

int main(int argc, char **argv)
{
	struct our_config config = {
		.waiting = { .cm = &our_cm_nonblocking, .completions = &our_nonblocking_channel },
		.report = report,
		.keepalive_s = 2,
		.ack_timeout = 14, /* 67 ms: with the retries a dead path is known in a second */
	};
	struct our_config quiet; /* silent: an idle path tries for as long as the other one works */
	struct session session = { .config = &config, .quiet = &quiet };
	uint64_t pause_ms = argc > 4 ? strtoull(argv[4], NULL, 10) : 0;
	int i, ret = 0;

	session.count = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
	if (argc > 5 || !session.count || session.count > FOREVER || pause_ms > 3600000) {
		fprintf(stderr, "usage: ping-failover-2/client FIRST_ADDRESS SECOND_ADDRESS COUNT "
				"[PAUSE_MS]\n");
		return 2;
	}
	for (i = 0; i < 2 && !ret; i++) {
		session.paths[i].address = argv[1 + i];
		ret = getaddrinfo(argv[1 + i], PORT, NULL, &session.paths[i].server);
		if (ret)
			fprintf(stderr, "ping-failover-2: %s: %s\n", argv[1 + i],
				gai_strerror(ret));
	}
	if (!ret && getrandom(&session.name, sizeof(session.name), 0) < 0)
		ret = errno;
	if (!ret)
		ret = our_create_stop(&stop);
	if (!ret) {
		config.stop = stop;
		quiet = config;
		quiet.report = NULL;
		signal(SIGPIPE, SIG_IGN); /* soft-iWARP raises SIGPIPE */
		signal(SIGINT, ask_to_stop);
		signal(SIGTERM, ask_to_stop);
		ret = exchange_all(&session, pause_ms);
	}
	for (i = 0; i < 2; i++) {
		take_down(&session.paths[i]);
		if (session.paths[i].server)
			freeaddrinfo(session.paths[i].server);
	}
	our_destroy_stop(stop);
	if (fflush(stdout)) {
		perror("ping-failover-2: stdout");
		ret = EIO;
	}
	return ret && ret != EINTR ? 1 : 0;
}
