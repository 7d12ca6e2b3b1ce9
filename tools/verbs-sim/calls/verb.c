/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Calls of the program to libibverbs and librdmacm, before they reach the library. See verb.h.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "verbs-sim/calls/libc.h"
#include "verbs-sim/calls/verb.h"

struct ibv_cq_ex sim_kept_cq_ex;
struct ibv_qp_ex sim_kept_qp_ex;

/* RTLD_NEXT does not find a library that the program opens itself. */
void *sim_real_verb(const char *name, const char *version)
{
	const char *library = strncmp(version, "IB", 2) ? "librdmacm.so.1" : "libibverbs.so.1";
	void *real = dlvsym(RTLD_NEXT, name, version);
	void *handle = real ? NULL : dlopen(library, RTLD_LAZY);

	if (handle)
		real = dlvsym(handle, name, version);
	if (!real)
		sim_unknown(name);
	return real;
}

/* Symbols of the linker: between them are the names that SIM_NAME has written. */
extern const char __start_sim_names[] __attribute__((visibility("hidden")));
extern const char __stop_sim_names[] __attribute__((visibility("hidden")));

EXPORTED bool sim_counts(const char *name)
{
	uintptr_t end = (uintptr_t)__stop_sim_names;
	const char *known;

	if (sim_hooks.is_command && sim_hooks.is_command(name))
		return true;
	for (known = __start_sim_names; (uintptr_t)known < end; known += strlen(known) + 1) {
		if (*name && !strcmp(known, name))
			return true;
	}
	return false;
}

bool sim_sees_call(void)
{
	return sim_me && !sim_in_verb && !sim_inside;
}

/* librdmacm calls libibverbs, also for a program that calls librdmacm by dlsym(3), unseen by us. */
static bool is_of_librdmacm(const void *caller)
{
	Dl_info info;

	return dladdr(caller, &info) && strstr(info.dli_fname, "librdmacm.so");
}

int sim_begin_verb(const char *name, int usual, const void *caller, const char *format, ...)
{
	const int ways[] = { usual, 0 };
	va_list arguments;
	int way;

	if (sim_in_verb++ || !sim_me || is_of_librdmacm(caller))
		return 0;
	va_start(arguments, format);
	sim_enter_verb(name, format, arguments);
	va_end(arguments);
	way = sim_commit_fault_of(name, ways);
	if (usual)
		sim_cover_call(name, way);
	if (way) {
		sim_in_verb--;
		sim_set_errno(way);
	}
	return way;
}

void sim_end_verb(bool failed)
{
	int saved = errno;

	if (--sim_in_verb || !sim_me || !failed)
		return;
	if (saved != EAGAIN || !strstr(sim_me->call, "_event")) /* not a failure: there was none */
		sim_cover("failed %s", sim_me->call);
	sim_trace("%s", strerrorname_np(saved) ? strerrorname_np(saved) : "failed");
	errno = saved;
}

/* ---- Tables of functions ---- */

struct opened {
	LIST_ENTRY(opened) link;
	const struct ibv_context *context;
	struct sim_kept kept;
};
static LIST_HEAD(contexts, opened) contexts;

static struct opened *find(const struct ibv_context *context)
{
	struct opened *opened = LIST_FIRST(&contexts);

	while (opened && opened->context != context)
		opened = LIST_NEXT(opened, link);
	return opened;
}

struct sim_kept *sim_kept_of(const struct ibv_context *context)
{
	return &find(context)->kept;
}

/* A new context may have the address of one that was closed. */
void sim_install_context(struct ibv_context *context)
{
	struct verbs_context *verbs = verbs_get_ctx(context);
	struct opened *opened = find(context);

	if (!opened) {
		opened = calloc(1, sizeof(*opened));
		if (!opened)
			sim_give_up(SIM_VERDICT_BROKEN, "out of memory");
		opened->context = context;
		LIST_INSERT_HEAD(&contexts, opened, link);
	}
	install_ops(&context->ops, &opened->kept.ops);
	if (verbs)
		install_verbs_context(verbs, &opened->kept.verbs_context);
}

void sim_install_cq_ex(struct ibv_cq_ex *cq)
{
	install_cq_ex(cq, &sim_kept_cq_ex);
}

void sim_install_qp_ex(struct ibv_qp_ex *qp)
{
	install_qp_ex(qp, &sim_kept_qp_ex);
}
