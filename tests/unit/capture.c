/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the unit tests. Reads the output of the functions under test, and opens terminals. See unit.h.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/unit/unit.h"

#define MAX_CAPTURED 65536

static int files[2];

static void redirect(int fd, int *file)
{
	*file = memfd_create("captured", MFD_CLOEXEC);
	ck_assert_int_ge(*file, 0);
	ck_assert_int_eq(dup2(*file, fd), fd);
}

void capture_start(void)
{
	fflush(NULL);
	redirect(STDOUT_FILENO, &files[0]);
	redirect(STDERR_FILENO, &files[1]);
}

static const char *captured(int file, char *text)
{
	ssize_t length;

	fflush(NULL);
	length = pread(file, text, MAX_CAPTURED - 1, 0);
	ck_assert_int_ge(length, 0);
	text[length] = '\0';
	return text;
}

const char *captured_stdout(void)
{
	static char text[MAX_CAPTURED];

	return captured(files[0], text);
}

const char *captured_stderr(void)
{
	static char text[MAX_CAPTURED];

	return captured(files[1], text);
}

void assert_holds(const char *text, const char *part)
{
	ck_assert_msg(strstr(text, part) != NULL, "no '%s' in '%s'", part, text);
}

bool unit_open_terminal(int *user, int *program)
{
	*program = -1;
	*user = posix_openpt(O_RDWR | O_NOCTTY);
	if (*user >= 0 && !grantpt(*user) && !unlockpt(*user))
		*program = open(ptsname(*user), O_RDWR | O_NOCTTY);
	return *program >= 0;
}

bool unit_has_terminals(const char *test)
{
	int user, program;
	bool has = unit_open_terminal(&user, &program);

	if (!has)
		unit_skip(
			test,
			"no terminal can be opened (is /dev/pts mounted, and /dev/ptmx its own?)");
	close(program);
	close(user);
	return has;
}
