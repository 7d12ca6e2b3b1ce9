/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-trace, the tool: examines the program before it is started. See target.h.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "verbs-trace/tool/target.h"

#define DEEPEST 4 /* how many times the interpreter of a script may be a script */

static bool is_program(const char *path)
{
	struct stat found;

	return !stat(path, &found) && S_ISREG(found.st_mode) && !access(path, X_OK);
}

static const char *search_path(const char *program, char *path)
{
	const char *at = getenv("PATH"), *end;

	for (at = at ? at : "/bin:/usr/bin"; *at; at = *end ? end + 1 : end) {
		end = strchrnul(at, ':');
		snprintf(path, PATH_MAX, "%.*s%s%s", (int)(end - at), at, end > at ? "/" : "",
			 program);
		if (is_program(path))
			return path;
	}
	return NULL;
}

static bool refuse(const char *path, const char *why)
{
	fprintf(stderr, "verbs-trace: %s %s\n", path, why);
	return false;
}

/* For a program with more rights than its user (set-user-ID), the loader ignores LD_PRELOAD. */
static bool has_no_rights(const char *path)
{
	struct stat found;

	if (stat(path, &found))
		return refuse(path, strerror(errno));
	if (found.st_mode & (S_ISUID | S_ISGID) && geteuid() != 0)
		return refuse(path,
			      "is setuid or setgid: it cannot be traced by an ordinary user; run "
			      "verbs-trace as root, or a copy of the program without the bit");
	if (found.st_mode & (S_ISUID | S_ISGID) && (found.st_uid != 0 || found.st_mode & S_ISGID))
		return refuse(
			path,
			"is setuid or setgid to another user: the loader lets nobody trace it; "
			"run a copy without the bit");
	if (geteuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0)
		return refuse(path,
			      "has file capabilities: the loader lets nobody trace it; run a copy, "
			      "which has none");
	return true;
}

static bool has_interpreter(int fd, const Elf64_Ehdr *header)
{
	Elf64_Phdr segment;
	int i;

	for (i = 0; i < header->e_phnum; i++) {
		if (pread(fd, &segment, sizeof(segment),
			  (off_t)(header->e_phoff + (unsigned int)i * sizeof(segment))) !=
		    sizeof(segment))
			return false;
		if (segment.p_type == PT_INTERP)
			return true;
	}
	return false;
}

static bool is_dynamic(int fd, const char *path, const Elf64_Ehdr *header)
{
	if (header->e_ident[EI_CLASS] != ELFCLASS64)
		return refuse(path, "is a 32-bit program, and verbs-trace a 64-bit one");
	if (!has_interpreter(fd, header))
		return refuse(path,
			      "is statically linked: there is no loader that could lead its calls "
			      "through verbs-trace");
	return true;
}

static bool can_trace(const char *path, int depth);

/* "#!/bin/sh -e" */
static bool script_can(const char *path, char *line, int depth)
{
	char *rest = line + 2, *interpreter;

	rest[strcspn(rest, "\n")] = '\0';
	rest += strspn(rest, " \t");
	interpreter = strsep(&rest, " \t");
	if (depth >= DEEPEST)
		return refuse(path, "is a script of a script of a script");
	return can_trace(interpreter, depth + 1);
}

static bool can_trace(const char *path, int depth)
{
	union {
		Elf64_Ehdr header;
		char line[256];
	} first = { .line = "" };
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t length;
	bool can = true;

	if (!has_no_rights(path))
		can = false;
	else if (fd < 0)
		can = true; /* a user who may execute it need not have the right to read it */
	else if ((length = read(fd, first.line, sizeof(first.line) - 1)) < 4)
		can = refuse(path, "is no program");
	else if (!memcmp(first.line, ELFMAG, SELFMAG))
		can = (size_t)length < sizeof(first.header) ? refuse(path, "is no program")
							    : is_dynamic(fd, path, &first.header);
	else if (!memcmp(first.line, "#!", 2))
		can = script_can(path, first.line, depth);
	if (fd >= 0)
		close(fd);
	return can;
}

const char *target_find(const char *program, int *status)
{
	static char path[PATH_MAX];
	const char *found = program;

	if (!strchr(program, '/'))
		found = search_path(program, path);
	if (!found || access(found, F_OK)) {
		fprintf(stderr, "verbs-trace: no program %s%s\n", program,
			strchr(program, '/') ? "" : " in PATH");
		*status = 127;
		return NULL;
	}
	*status = 126;
	if (!is_program(found)) {
		refuse(found, "cannot be run: it is not an executable file");
		return NULL;
	}
	return can_trace(found, 0) ? found : NULL;
}
