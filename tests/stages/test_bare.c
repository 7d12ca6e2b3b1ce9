/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the stage tests: a stage that connects its QPs without the connection manager (CM): it
 * must refuse iWARP; the results of wrong attributes; and peers on the TCP connection that violate
 * the protocol.
 */
#include <netdb.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/stages/runs.h"
#include "tests/stages/stages.h"
#include "tests/support/suite.h"

#define LINE   "0000:000011:9a3b5c:00000000000000000000ffffc0000201"
#define NO_GID "0000:000011:9a3b5c:00000000000000000000000000000000"
#define MUCH   (10u << 20)

static void assert_said(struct process *process, const char *wanted)
{
	process_assert(strstr(process_text(process, PROCESS_ERR), wanted), "%s did not say '%s'",
		       process->name, wanted);
}

START_TEST(iwarp_cannot_and_that_is_said_at_once)
{
	struct setting at = setting_of(_i);
	struct process *server = start_server(at, NULL, NULL);
	struct process *client = start_client(at, NULL, NULL); /* would wait 60 s for a server */

	assert_exit(server, 1);
	assert_exit(client, 1);
	assert_said(server, suite_name("%s is an iWARP device", at.target->device));
	assert_said(client, suite_name("%s is an iWARP device", at.target->device));
}
END_TEST

/*
 * What each side prints if one side makes a mistake; NULL: it need not print anything. A side that
 * gets no message ends by --timeout. (After a wrong PSN this depends on the other PSN, which is
 * random.)
 */
static const struct {
	const char *client[3], *server[3];
	const char *client_says, *server_says;
} mistakes[] = {
	{ { "--mistake", "no-grh" },
	  { NULL },
	  "ibv_modify_qp: Invalid argument (22): to RTR",
	  "ended the exchange" },
	{ { "--gid-index", "0" },
	  { NULL },
	  "ended the exchange",
	  "its GID stands for an IPv6 address, and ours for one of IPv4" },
#define N_QUICK 2
	{ { NULL },
	  { "--mistake", "no-grh" },
	  "ended the exchange",
	  "ibv_modify_qp: Invalid argument (22): to RTR" },
	{ { "--gid-index", "255" }, { NULL }, "has no GID there", NULL },
	{ { "--mtu", "4096" }, { NULL }, "--mtu 4096 is more than port 1 of", NULL },
	/* A program that waits for a message that does not come polls until its time limit. */
	{ { "--mistake", "qpn" }, { NULL }, "transport retry counter exceeded (status 12", NULL },
	{ { NULL }, { "--mistake", "qpn" }, NULL, "transport retry counter exceeded (status 12" },
	{ { "--mistake", "psn" }, { NULL }, "after 0 messages", NULL },
};

START_TEST(mistakes_come_to_what_the_readme_says)
{
	struct setting at = setting_of(_i / RUN_LENGTH(mistakes));
	int i = _i % RUN_LENGTH(mistakes);
	const char *const timeout[] = { "--timeout", "12", NULL };
	struct process *server, *client;

	server = start_server(at, NULL, mistakes[i].server);
	await_listening(server);
	client = start_client(at, timeout, mistakes[i].client);
	assert_exit(client, strstr(mistakes[i].client_says ? mistakes[i].client_says : "", "--mtu")
				    ? 2
				    : 1);
	if (mistakes[i].server_says)
		process_await_text(server, PROCESS_ERR, mistakes[i].server_says, 1);
	stop_if_running(at, server);
	if (mistakes[i].client_says)
		assert_said(client, mistakes[i].client_says);
	process_assert(!*process_text(client, PROCESS_OUT) ||
			       !strstr(process_text(client, PROCESS_OUT), "900 messages"),
		       "the client is content");
}
END_TEST

static int connect_to_server(struct setting at)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST };
	struct addrinfo *found;
	int fd;

	ck_assert_int_eq(getaddrinfo(at.target->address, at.port, &hints, &found), 0);
	fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(connect(fd, found->ai_addr, found->ai_addrlen), 0);
	freeaddrinfo(found);
	return fd;
}

/* Waits until the server closes the connection; it must not have answered. */
static void await_refusal(int fd)
{
	char answer[8];

	ck_assert_int_le(recv(fd, answer, sizeof(answer), 0), 0);
	close(fd);
}

static void say(struct setting at, const char *text, size_t size)
{
	int fd = connect_to_server(at);

	send(fd, text, size, MSG_NOSIGNAL); /* the server reads only the first part of this */
	await_refusal(fd);
}

static void say_and_leave(struct setting at, const char *text, size_t size)
{
	int fd = connect_to_server(at);

	ck_assert_int_eq(send(fd, text, size, MSG_NOSIGNAL), (int)size);
	close(fd);
}

/* A line that is valid, followed by something other than "done". */
static void say_line_and(struct setting at, const char *word, size_t size)
{
	int fd = connect_to_server(at);
	char answer[sizeof(LINE)];

	ck_assert_int_eq(send(fd, LINE, sizeof(LINE), MSG_NOSIGNAL), (int)sizeof(LINE));
	ck_assert_int_eq(recv(fd, answer, sizeof(answer), MSG_WAITALL), (int)sizeof(answer));
	ck_assert_int_eq(answer[sizeof(answer) - 1], 0);
	ck_assert_int_eq(send(fd, word, size, MSG_NOSIGNAL), (int)size);
	await_refusal(fd);
}

START_TEST(strangers_on_the_line_are_refused_and_the_next_is_served)
{
	struct setting at = setting_of(_i);
	const char *const *agreed = PROCESS_ARGUMENTS("-c", "50");
	static char much[MUCH];
	struct process *server = start_server(at, agreed, NULL), *client;
	int silent;

	await_listening(server);
	memset(much, 'x', sizeof(much));
	say(at, much, sizeof(LINE));
	say(at, much, sizeof(much));
	say(at, "GET / HTTP/1.1\r\nHost: a.server.that.listens.for.programs\r\n\r\n", 61);
	say(at, "0000-000011-9a3b5c-00000000000000000000ffffc0000201", sizeof(LINE));
	say(at, "0000:000011:9a3b5c:00000000000000000000ffffc00002g1", sizeof(LINE));
	say(at, LINE "\n", sizeof(LINE)); /* a line feed where the zero belongs */
	say(at, NO_GID, sizeof(NO_GID));
	say_and_leave(at, LINE, 20);
	say_and_leave(at, LINE, 0);
	say_and_leave(at, LINE, sizeof(LINE));
	say_line_and(at, "gone", 5);
	silent = connect_to_server(at);
	client = start_client(at, agreed, PROCESS_ARGUMENTS("-v"));
	assert_exit(client, 0);
	assert_exit(server, 0);
	close(silent);
	process_await_text(server, PROCESS_ERR, "did not say LID:QPN:PSN:GID", 6);
	process_await_text(server, PROCESS_ERR, "it has told no GID", 1);
	process_await_text(server, PROCESS_ERR, "ended the exchange", 3);
	process_await_text(server, PROCESS_ERR, "said nothing of its QP", 1);
}
END_TEST

void add_iwarp_tests(TCase *tcase, int setting)
{
	tcase_add_loop_test(tcase, iwarp_cannot_and_that_is_said_at_once, setting, setting + 1);
}

void add_bare_tests(TCase *tcase, int setting, bool also_slow_ones)
{
	int first = setting * RUN_LENGTH(mistakes);

	tcase_add_loop_test(tcase, mistakes_come_to_what_the_readme_says, first,
			    first + (also_slow_ones ? RUN_LENGTH(mistakes) : N_QUICK));
	if (also_slow_ones)
		tcase_add_loop_test(tcase, strangers_on_the_line_are_refused_and_the_next_is_served,
				    setting, setting + 1);
}
