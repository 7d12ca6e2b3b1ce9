/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: unit tests of common/report.c. They use no name service.
 */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "common/roles.h"
#include "program/option_values.h"
#include "program/options.h"
#include "tests/unit/unit.h"

static const struct {
	const char *address, *port;
	const char *text;
} spellings[] = {
	{ "192.0.2.1", "12321", "192.0.2.1:12321" },
	{ "255.255.255.255", "65535", "255.255.255.255:65535" },
	{ "2001:db8::1", "1", "[2001:db8::1]:1" },
	{ "2001:0DB8:0:0:0:0:0:1", "1", "[2001:db8::1]:1" },
	{ "::ffff:192.0.2.1", "7", "[::ffff:192.0.2.1]:7" },
	{ "2001:db8:1111:2222:3333:4444:5555:6666", "65535",
	  "[2001:db8:1111:2222:3333:4444:5555:6666]:65535" },
	{ "fe80::1%lo", "12321", "[fe80::1%lo]:12321" },
};

UNIT_TESTS(text_and_back, UNIT_LENGTH(spellings))
{
	struct addrinfo *found;
	char text[OUR_ADDRESS_TEXT];

	ck_assert_int_eq(our_look_up_addresses(spellings[_i].address, spellings[_i].port, &found),
			 0);
	ck_assert_ptr_eq(our_address_text(found->ai_addr, text), text);
	ck_assert_str_eq(text, spellings[_i].text);
	ck_assert_msg(!found->ai_next, "one address, one entry");
	our_free_addresses(found);
}

UNIT_TEST(no_address_means_any)
{
	const struct sockaddr_in6 *any6;
	struct addrinfo *found;

	ck_assert_int_eq(our_look_up_addresses(NULL, "12321", &found), 0);
	if (found->ai_family == AF_INET6) {
		any6 = (const void *)found->ai_addr;
		ck_assert(IN6_IS_ADDR_UNSPECIFIED(&any6->sin6_addr));
		ck_assert_uint_eq(ntohs(any6->sin6_port), 12321);
		ck_assert(our_is_any_address(found->ai_addr));
	} else {
		ck_assert_uint_eq(
			((const struct sockaddr_in *)(const void *)found->ai_addr)->sin_addr.s_addr,
			INADDR_ANY);
	}
	our_free_addresses(found);
}

UNIT_TEST(an_address_that_is_none_has_text)
{
	struct sockaddr_storage address;
	char text[OUR_ADDRESS_TEXT];

	memset(&address, 0, sizeof(address)); /* AF_UNSPEC is what an id has before it is bound */
	ck_assert_str_eq(our_address_text((const struct sockaddr *)&address, text), "(no address)");
}

UNIT_TEST(an_address_that_is_none_is_not_local)
{
	struct sockaddr_storage address;

	memset(&address, 0, sizeof(address)); /* no socket can have this address */
	ck_assert(!our_is_local_address((const struct sockaddr *)&address));
}

static const struct {
	const char *address;
	bool is_local, is_any;
} places[] = {
	{ "127.0.0.1", true, false },   { "192.0.2.1", false, false }, /* no machine has the last */
	{ "0.0.0.0", true, true },      { "0.0.0.1", false, false },
	{ "2001:db8::", false, false }, { "::ffff:0.0.0.0", false, false },
};

UNIT_TESTS(an_address_of_this_machine_is_local, UNIT_LENGTH(places))
{
	struct addrinfo *found;

	ck_assert_int_eq(our_look_up_addresses(places[_i].address, "12321", &found), 0);
	if (found->ai_family == AF_INET) /* for IPv6 see below */
		ck_assert(our_is_local_address(found->ai_addr) == places[_i].is_local);
	ck_assert(our_is_any_address(found->ai_addr) == places[_i].is_any);
	our_free_addresses(found);
}

#define SCOPE 7 /* the interface, if the machine has exactly one link-local address */

static const char *only; /* address of the machine, of IPv6; NULL: it has those that it has */

/*
 * Replaces the C library's function, and calls it unless a test simulates a machine with another
 * address. One that is link-local needs a scope: see ipv6(7).
 */
int bind(int fd, const struct sockaddr *address, socklen_t length)
{
	const struct sockaddr_in6 *in6 = (const void *)address;
	struct in6_addr its;
	union {
		void *symbol;
		int (*call)(int fd, const struct sockaddr *address, socklen_t length);
	} real = { .symbol = dlsym(RTLD_NEXT, "bind") };

	if (!only)
		return real.call ? real.call(fd, address, length) : -1;
	ck_assert_int_eq(inet_pton(AF_INET6, only, &its), 1);
	ck_assert_uint_eq(length, sizeof(*in6));
	ck_assert_uint_eq(in6->sin6_port, 0); /* 0 is any port: the server's is used */
	if (memcmp(&in6->sin6_addr, &its, sizeof(its)) != 0)
		errno = EADDRNOTAVAIL;
	else if (!IN6_IS_ADDR_LINKLOCAL(&its) || in6->sin6_scope_id == SCOPE)
		return 0;
	else
		errno = in6->sin6_scope_id ? EADDRNOTAVAIL : EINVAL;
	return -1;
}

static const struct {
	const char *only, *address;
	uint32_t scope;
	bool is_local;
} links[] = {
	{ "fe80::1", "fe80::1", SCOPE, true }, { "fe80::1", "fe80::1", SCOPE + 1, false },
	{ "fe80::1", "fe80::1", 0, false },    { "::1", "::1", 0, true },
	{ "::1", "2001:db8::1", 0, false },
};

UNIT_TESTS(an_address_of_ipv6_is_local_with_its_scope, UNIT_LENGTH(links))
{
	struct sockaddr_in6 address = {
		.sin6_family = AF_INET6,
		.sin6_port = htons(12321),
		.sin6_scope_id = links[_i].scope,
	};

	ck_assert_int_eq(inet_pton(AF_INET6, links[_i].address, &address.sin6_addr), 1);
	only = links[_i].only;
	ck_assert(our_is_local_address((const struct sockaddr *)&address) == links[_i].is_local);
}

UNIT_TEST(freeing_nothing_is_allowed)
{
	our_free_addresses(NULL);
}

static int name_service_says;

/* Replaces the C library's function, and calls it unless a test simulates a failure. */
int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
		struct addrinfo **found)
{
	union {
		void *symbol;
		int (*call)(const char *, const char *, const struct addrinfo *,
			    struct addrinfo **);
	} real = { .symbol = dlsym(RTLD_NEXT, "getaddrinfo") };

	if (name_service_says)
		return name_service_says;
	return real.call ? real.call(node, service, hints, found) : EAI_SYSTEM;
}

static const struct {
	int says, returned, exit_status;
} services[] = {
	{ EAI_NONAME, EINVAL, OUR_EXIT_USAGE }, /* there is no such name: a mistake of the user */
	{ EAI_AGAIN, EAGAIN, OUR_EXIT_FAILED }, /* the name service does not answer: not known */
	{ EAI_FAIL, EAGAIN, OUR_EXIT_FAILED },
	{ EAI_MEMORY, EAGAIN, OUR_EXIT_FAILED },
};

UNIT_TESTS(a_name_service_that_fails_is_not_wrong_usage, UNIT_LENGTH(services))
{
	struct addrinfo *found;
	int ret;

	name_service_says = services[_i].says;
	capture_start();
	ret = our_look_up_addresses("host.example", "12321", &found);
	ck_assert_int_eq(ret, services[_i].returned);
	ck_assert_int_eq(our_options_exit_status(ret), services[_i].exit_status);
	assert_holds(captured_stderr(), gai_strerror(services[_i].says));
}
