/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The lowest layer: stop objects, addresses as text, and the reporting of errors. Nothing here
 * knows a connection. See our_control.h, roles.h and private.h.
 */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/private.h"

struct our_stop {
	atomic_uint requests;
	/* Readable after the first request, and after the second. A read takes 1 from what was written. */
	int stop_fd, leave_fd;
};

int our_create_stop(struct our_stop **created)
{
	struct our_stop *stop = calloc(1, sizeof(*stop));
	int ret;

	*created = NULL;
	if (!stop)
		return ENOMEM;
	stop->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK | EFD_SEMAPHORE);
	if (stop->stop_fd < 0)
		goto err_free;
	stop->leave_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK | EFD_SEMAPHORE);
	if (stop->leave_fd < 0)
		goto err_close_stop_fd;
	*created = stop;
	return 0;

err_close_stop_fd:
	ret = errno;
	close(stop->stop_fd);
	errno = ret;
err_free:
	ret = errno;
	free(stop);
	return ret;
}

void our_destroy_stop(struct our_stop *stop)
{
	if (!stop)
		return;
	close(stop->leave_fd);
	close(stop->stop_fd);
	free(stop);
}

void our_stop_request(struct our_stop *stop)
{
	unsigned int before = atomic_fetch_add(&stop->requests, 1);
	int saved = errno; /* the interrupted code may look at errno */

	/* write fails if the counter is full, and then the descriptor is readable, too. */
	if (before < 2)
		eventfd_write(before ? stop->leave_fd : stop->stop_fd, 1);
	errno = saved;
}

/* Waits for the write of a request that is counted already: it would make `fd` readable later. */
static void take_back(int fd)
{
	struct pollfd written = { .fd = fd, .events = POLLIN };
	eventfd_t one;

	while (eventfd_read(fd, &one) && errno == EAGAIN)
		poll(&written, 1, -1);
}

void our_clear_stop(struct our_stop *stop)
{
	unsigned int requests = atomic_exchange(&stop->requests, 0);

	if (requests > 0)
		take_back(stop->stop_fd);
	if (requests > 1)
		take_back(stop->leave_fd);
}

static bool has(const struct our_stop *stop, unsigned int requests)
{
	return stop && atomic_load_explicit(&stop->requests, memory_order_relaxed) >= requests;
}

bool our_stop_requested(const struct our_stop *stop)
{
	return has(stop, 1);
}

bool our_leave_requested(const struct our_stop *stop)
{
	return has(stop, 2);
}

int our_stop_fd(const struct our_stop *stop)
{
	return stop ? stop->stop_fd : -1;
}

int our_leave_fd(const struct our_stop *stop)
{
	return stop ? stop->leave_fd : -1;
}

/* ---- Addresses ---- */

bool our_is_any_address(const struct sockaddr *address)
{
	if (address->sa_family == AF_INET6)
		return IN6_IS_ADDR_UNSPECIFIED(
			&((const struct sockaddr_in6 *)(const void *)address)->sin6_addr);
	return ((const struct sockaddr_in *)(const void *)address)->sin_addr.s_addr == INADDR_ANY;
}

static socklen_t address_length(const struct sockaddr *address)
{
	return address->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6)
					      : sizeof(struct sockaddr_in);
}

bool our_is_local_address(const struct sockaddr *address)
{
	struct sockaddr_in6 any_port; /* room for either family; the port is at the same place */
	bool local;
	int fd;

	memcpy(&any_port, address, address_length(address));
	any_port.sin6_port = 0;
	fd = socket(address->sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return false;
	local = !bind(fd, (struct sockaddr *)&any_port, address_length(address));
	close(fd);
	return local;
}

const char *our_address_text(const struct sockaddr *address, char *text)
{
	char host[64], port[8];

	if (getnameinfo(address, address_length(address), host, sizeof(host), port, sizeof(port),
			NI_NUMERICHOST | NI_NUMERICSERV))
		snprintf(text, OUR_ADDRESS_TEXT, "(no address)");
	else
		snprintf(text, OUR_ADDRESS_TEXT,
			 address->sa_family == AF_INET6 ? "[%s]:%s" : "%s:%s", host, port);
	return text;
}

/* ---- Errors ---- */

int our_error_of(int ret)
{
	if (ret == -1)
		return errno ? errno : EIO;
	return ret < 0 ? -ret : ret;
}

int our_tell(const struct our_config *config, struct our_error *error, const char *format,
	     va_list arguments)
{
	char text[512] = "";

	if (!error->error)
		error->error = EIO;
	/* A wait that was told to stop has not failed. */
	if (!config->report || error->error == EINTR)
		return error->error;
	if (format)
		vsnprintf(text, sizeof(text), format, arguments);
	error->text = text;
	config->report(config->context, error);
	return error->error;
}

int our_tell_error(const struct our_config *config, const char *call, int error, const char *text,
		   ...)
{
	struct our_error what = { .call = call, .error = error };
	va_list arguments;
	int ret;

	va_start(arguments, text);
	ret = our_tell(config, &what, text, arguments);
	va_end(arguments);
	return ret;
}

const char *our_error_text(const struct our_error *error, char *text, size_t size)
{
	const char *status = error->event_name ? error->event_name : "";

	if (error->wc)
		status = ibv_wc_status_str(error->wc->status);
	snprintf(text, size, "%s%s%s (%d)%s%s%s%s", error->call ? error->call : "",
		 error->call ? ": " : "", strerror(error->error), error->error, *status ? ", " : "",
		 status, *error->text ? ": " : "", error->text);
	return text;
}
