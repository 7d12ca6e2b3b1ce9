/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * What a flattened program has in place of program/ and measure/: the same functions, as few lines
 * as they can be, or none. A function here is taken instead of the tree's of the same name. USES_f
 * is whether some part of the program calls f.
 */
#include <errno.h>
#include <inttypes.h>
#include <netdb.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/control.h"
#include "measure/clock.h"
#include "measure/statistics.h"
#include "program/addresses.h"
#include "program/options.h"
#include "program/output.h"
#include "program/report.h"
#include "program/stop.h"

/* ---- program/stop.h ---- */

static bool stop_requested; /* read and written atomically */
static int stop_fd = -1;    /* readable once the program is to stop */

bool our_stop_requested(void)
{
	return __atomic_load_n(&stop_requested, __ATOMIC_RELAXED);
}

/* Wakes those who sleep until something comes. */
static void wake_all(void)
{
	int saved_errno = errno;

	eventfd_write(stop_fd, 1); /* it fails if the descriptor is readable already */
	errno = saved_errno;
}

/*
 * Who sleeps in poll(2) looks at the descriptor, too. A signal just before another call blocks does
 * not end it: the alarm does, a second later.
 */
static void handle_signal(int signal_number)
{
	if (USES_our_stop_fd || signal_number != SIGALRM)
		__atomic_store_n(&stop_requested, true, __ATOMIC_RELAXED);
	if (USES_our_stop_fd)
		wake_all();
	else
		alarm(1);
}

/* Without SA_RESTART: a call that blocks returns EINTR. */
int our_catch_signals(void)
{
	struct sigaction action;

	if (USES_our_stop_fd) {
		stop_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
		if (stop_fd < 0)
			return our_report_error("eventfd", errno, NULL);
	}
	signal(SIGPIPE, SIG_IGN); /* a driver may write to a connection that is gone */
	memset(&action, 0, sizeof(action));
	action.sa_handler = handle_signal;
	if ((!USES_our_stop_fd && sigaction(SIGALRM, &action, NULL)) ||
	    sigaction(SIGINT, &action, NULL) || sigaction(SIGTERM, &action, NULL))
		return our_report_error("sigaction", errno, NULL);
	return 0;
}

int our_stop_fd(void)
{
	return stop_fd;
}

bool our_leave_requested(void)
{
	return false;
}

int our_leave_fd(void)
{
	return -1;
}

/* ---- program/report.h ---- */

/* "program: call: what the error means (number): advice"; returns the error, never 0. */
int our_report_error(const char *call, int error, const char *advice, ...)
{
	char text[512] = "";
	va_list arguments;

	if (error == EINTR && our_stop_requested())
		return error;
	if (advice) {
		va_start(arguments, advice);
		vsnprintf(text, sizeof(text), advice, arguments);
		va_end(arguments);
	}
	our_report_sentence("%s: %s (%d)%s%s", call, strerror(error), error, *text ? ": " : "",
			    text);
	return error ? error : EIO;
}

/* What a call of the tear-down returns; the tear-down goes on in any case. */
static void report_end(const char *call, int ret)
{
	if (ret)
		our_report_error(call, ret, NULL);
}

void our_report_sentence(const char *sentence, ...)
{
	char text[1024];
	va_list arguments;

	va_start(arguments, sentence);
	vsnprintf(text, sizeof(text), sentence, arguments);
	va_end(arguments);
	fprintf(stderr, "%s: %s\n", program_invocation_short_name, text);
}

int our_options_exit_status(int error)
{
	return error == EINVAL ? OUR_EXIT_USAGE : OUR_EXIT_FAILED;
}

int our_exit_status(int error)
{
	return !error || error == EINTR ? OUR_EXIT_DONE : OUR_EXIT_FAILED;
}

/* ---- program/output.h: the little that is printed may block ---- */

#define OUR_OUTPUTS 0

int our_start_output(void)
{
	return 0;
}

void our_list_output(struct pollfd *fds)
{
}

void our_write_output(const struct pollfd *fds)
{
}

int our_end_output(uint64_t until_ns)
{
	return 0;
}

/* ---- program/addresses.h ---- */

int our_look_up_addresses(const char *address, const char *port, struct addrinfo **addresses)
{
	struct addrinfo hints;
	int ret;

	memset(&hints, 0, sizeof(hints));
	hints.ai_socktype = SOCK_STREAM; /* one entry an address, rather than one a protocol */
	hints.ai_flags = AI_NUMERICSERV | AI_PASSIVE;
	ret = getaddrinfo(address, port, &hints, addresses);
	if (!ret)
		return 0;
	our_report_sentence("%s: %s", IS_CLIENT || address ? address : "any address",
			    gai_strerror(ret));
	return EINVAL;
}

void our_free_addresses(struct addrinfo *addresses)
{
	freeaddrinfo(addresses);
}

/* Writes an address as text[OUR_ADDRESS_TEXT], and returns that. */
const char *our_address_text(const struct sockaddr *address, char *text)
{
	char host[64] = "no address", port[8] = "";

	getnameinfo(address, sizeof(struct sockaddr_in6), host, sizeof(host), port, sizeof(port),
		    NI_NUMERICHOST | NI_NUMERICSERV);
	snprintf(text, OUR_ADDRESS_TEXT, "%s port %s", host, port);
	return text;
}

/* ---- measure/statistics.h ---- */

void our_statistics_start(struct our_statistics *statistics)
{
	statistics->started_ns = our_now_ns();
}

void our_statistics_end(struct our_statistics *statistics)
{
	statistics->ended_ns = our_now_ns();
}

int our_report_results(const struct our_control *control)
{
	const struct our_statistics *statistics = &control->statistics;

	printf("%" PRIu64 " messages of %u bytes in %.0f us%s\n", statistics->messages,
	       control->data_size, (double)(statistics->ended_ns - statistics->started_ns) / 1000,
	       statistics->complete ? "" : ", not completed");
	return fflush(stdout) ? our_report_error("fflush", errno, NULL) : 0;
}

/* ---- what goes without a word ---- */

void our_statistics_prepare(struct our_statistics *statistics, uint64_t count, uint64_t size)
{
}

void our_statistics_add_stream(struct our_statistics *statistics,
			       struct our_stream_statistics *stream)
{
}

void our_statistics_want_progress(struct our_statistics *statistics, bool quiet)
{
}

void our_statistics_progress(struct our_statistics *statistics, uint64_t now_ns)
{
}

void our_histogram_add(struct our_histogram *histogram, uint64_t value)
{
}

void our_add_options(struct our_program *program, const struct our_option *options)
{
}

void our_check_server_options(const struct our_options *options)
{
}

void our_make_mistake(struct ibv_qp_attr *attr)
{
}

void our_setup_user_data(struct our_control *control, uint32_t index, uint64_t message)
{
}
