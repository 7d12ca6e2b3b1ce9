/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Conditions that programs meet on other machines: with INLINE=refused a device that refuses a QP
 * with inline data, with INLINE=none one that grants none; and the name "two.example", which has
 * two addresses. Before and behind each change of a file it puts a call that the simulation sees: there
 * the program can be killed. Linked with --wrap for each function that has __wrap_ here: see trees.py.
 */
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <rdma/rdma_cma.h>

int __real_rdma_create_qp(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
int __wrap_rdma_create_qp(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
int __real_getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
		       struct addrinfo **found);
int __wrap_getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
		       struct addrinfo **found);

int __wrap_rdma_create_qp(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	const char *how = getenv("INLINE");
	int ret;

	if (!how || !attr->cap.max_inline_data)
		return __real_rdma_create_qp(id, pd, attr);
	if (!strcmp(how, "refused")) {
		errno = EINVAL;
		return -1;
	}
	attr->cap.max_inline_data = 0;
	ret = __real_rdma_create_qp(id, pd, attr);
	attr->cap.max_inline_data = 0; /* soft-RoCE grants more than was asked for */
	return ret;
}

int __wrap_getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
		       struct addrinfo **found)
{
	int ret;

	if (!node || strcmp(node, "two.example"))
		return __real_getaddrinfo(node, service, hints, found);
	ret = __real_getaddrinfo("192.0.2.9", service, hints, found);
	return ret ? ret : __real_getaddrinfo("192.0.2.1", service, hints, &(*found)->ai_next);
}

#define SEEN(type, name, parameters, arguments) \
	type __real_##name parameters;          \
	type __wrap_##name parameters;          \
	type __wrap_##name parameters           \
	{                                       \
		int error;                      \
		type ret;                       \
		poll(NULL, 0, 0);               \
		ret = __real_##name arguments;  \
		error = errno;                  \
		poll(NULL, 0, 0);               \
		errno = error;                  \
		return ret;                     \
	}

SEEN(ssize_t, write, (int fd, const void *data, size_t length), (fd, data, length))
SEEN(ssize_t, pwrite, (int fd, const void *data, size_t length, off_t at), (fd, data, length, at))
SEEN(int, fflush, (FILE * file), (file))
SEEN(int, fclose, (FILE * file), (file))
SEEN(int, rename, (const char *from, const char *to), (from, to))
