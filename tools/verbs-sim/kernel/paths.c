/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * libc: calls with a path. sysfs.c answers for the kernel's paths; others go to the real call.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "verbs-sim/calls/call.h"
#include "verbs-sim/calls/libc.h"
#include "verbs-sim/kernel/kernel.h"
#include "verbs-sim/kernel/sysfs.h"

static int error(int number)
{
	errno = number;
	return -1;
}

/* ---- Opening ---- */

/* Returns a descriptor that reads as the file. Opening it shows that looks at the clock are no polling. */
static int open_text(const char *path)
{
	char text[SYSFS_MOST_TEXT];
	size_t length = sysfs_read(path, text);
	int fd;

	if (sim_me)
		sim_me->looked_ns = 0;
	if (!length)
		return error(EINVAL);
	fd = (int)sim_system(SYS_memfd_create, path, MFD_CLOEXEC);
	if (fd >= 0 && sim_system(SYS_pwrite64, fd, text, length, 0) != (long)length)
		return error(EIO);
	return fd;
}

static int open_file(const char *path)
{
	struct sim_device *device;

	switch (sysfs_look(path, &device)) {
	case SYSFS_OTHER:
		return -2;
	case SYSFS_FILE:
		return open_text(path);
	case SYSFS_UVERBS:
		return uverbs_open(device);
	case SYSFS_UCMA:
		return ucma_open();
	case SYSFS_FOLDER:
		return error(EISDIR);
	default:
		return error(ENOENT);
	}
}

static bool is_command(const char *name)
{
	return uverbs_has_command(name) || ucma_has_command(name);
}

__attribute__((constructor)) static void hook(void)
{
	sim_hooks.is_command = is_command;
	sim_hooks.open = open_file;
}

static int open_any(int at, const char *path, int flags, va_list list)
{
	mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(list, mode_t) : 0;
	int fd = open_file(path);

	return fd == -2 ? (int)sim_system(SYS_openat, at, path, flags, mode) : fd;
}

#define OPEN(name, parameters, at, path, flags)       \
	EXPORTED int name parameters                  \
	{                                             \
		va_list list;                         \
		int fd;                               \
		va_start(list, flags);                \
		fd = open_any(at, path, flags, list); \
		va_end(list);                         \
		return fd;                            \
	}
OPEN(open, (const char *path, int flags, ...), AT_FDCWD, path, flags)
OPEN(open64, (const char *path, int flags, ...), AT_FDCWD, path, flags)
OPEN(openat, (int at, const char *path, int flags, ...), at, path, flags)
OPEN(openat64, (int at, const char *path, int flags, ...), at, path, flags)

/* Programs that are compiled with _FORTIFY_SOURCE call these, which create no files. */
#define OPEN_2(name, parameters, at)                                                    \
	int name parameters;                                                            \
	EXPORTED int name parameters                                                    \
	{                                                                               \
		int fd = open_file(path);                                               \
		return fd == -2 ? (int)sim_system(SYS_openat, at, path, flags, 0) : fd; \
	}
OPEN_2(__open_2, (const char *path, int flags), AT_FDCWD)
OPEN_2(__open64_2, (const char *path, int flags), AT_FDCWD)
OPEN_2(__openat_2, (int at, const char *path, int flags), at)
OPEN_2(__openat64_2, (int at, const char *path, int flags), at)

EXPORTED FILE *fopen64(const char *restrict path, const char *restrict mode)
{
	return fopen(path, mode);
}

/* ---- Looking ---- */

/* Does as stat(2), for the kernel's paths. Returns -2 for other paths. */
static int look(const char *path, struct stat *to)
{
	struct sim_device *device = NULL;
	enum sysfs_kind kind = sysfs_look(path, &device);

	if (kind == SYSFS_OTHER)
		return -2;
	if (kind == SYSFS_MISSING)
		return error(ENOENT);
	memset(to, 0, sizeof(*to));
	to->st_nlink = 1;
	to->st_mode = kind == SYSFS_FOLDER ? S_IFDIR | 0755
		      : kind == SYSFS_FILE ? S_IFREG | 0444
					   : S_IFCHR | 0666;
	if (kind == SYSFS_UVERBS || kind == SYSFS_UCMA)
		to->st_rdev = sysfs_number_of(kind == SYSFS_UVERBS ? device : NULL);
	if (kind == SYSFS_FILE)
		to->st_size = getpagesize();
	return 0;
}

static int stat_any(int at, const char *path, struct stat *to, int flags)
{
	int ret = look(path, to);

	return ret == -2 ? (int)sim_system(SYS_newfstatat, at, path, to, flags) : ret;
}

/* On a processor of 64 bits the two structures are the same. */
#define STAT(name, type, parameters, at, flags)                      \
	EXPORTED int name parameters                                 \
	{                                                            \
		return stat_any(at, path, (struct stat *)to, flags); \
	}
STAT(stat, stat, (const char *restrict path, struct stat *restrict to), AT_FDCWD, 0)
STAT(stat64, stat64, (const char *restrict path, struct stat64 *restrict to), AT_FDCWD, 0)
STAT(lstat, stat, (const char *restrict path, struct stat *restrict to), AT_FDCWD,
     AT_SYMLINK_NOFOLLOW)
STAT(lstat64, stat64, (const char *restrict path, struct stat64 *restrict to), AT_FDCWD,
     AT_SYMLINK_NOFOLLOW)
STAT(fstatat, stat, (int at, const char *restrict path, struct stat *restrict to, int flags), at,
     flags)
STAT(fstatat64, stat64, (int at, const char *restrict path, struct stat64 *restrict to, int flags),
     at, flags)

EXPORTED int fstat(int fd, struct stat *to)
{
	const struct sim_file *file = sim_file_of(fd);
	int ret = (int)sim_system(SYS_newfstatat, fd, "", to, AT_EMPTY_PATH);

	if (!ret && file && file->number) {
		to->st_mode = S_IFCHR | 0666;
		to->st_rdev = file->number;
	}
	return ret;
}

EXPORTED int fstat64(int fd, struct stat64 *to)
{
	return fstat(fd, (struct stat *)to);
}

EXPORTED int access(const char *path, int mode)
{
	struct stat found;
	int ret = look(path, &found);

	if (ret)
		return ret == -2 ? (int)sim_system(SYS_faccessat, AT_FDCWD, path, mode) : ret;
	return mode & W_OK && !(found.st_mode & S_IWUSR) ? error(EACCES) : 0;
}

/* None of the kernel's paths is a link. */
EXPORTED ssize_t readlink(const char *restrict path, char *restrict buf, size_t size)
{
	struct stat found;
	int ret = look(path, &found);

	if (ret == -2)
		return sim_system(SYS_readlinkat, AT_FDCWD, path, buf, size);
	return ret ? ret : error(EINVAL);
}

EXPORTED char *realpath(const char *restrict path, char *restrict to)
{
	struct stat found;
	int ret = look(path, &found);

	if (ret == -2)
		return REAL(realpath)(path, to);
	return ret ? NULL : to ? strcpy(to, path) : strdup(path);
}
