/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * Place: the fake's tests: the programs under test, all of which are linked into this one. They are
 * found by their symbols, so that there is no table to keep. Contract: see run.h.
 */
#include <ctype.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "program/stage.h"
#include "tests/fake/run.h"

/* The linker gives it the name our_stage. It stays zero for a program of one file. */
struct our_stage fake_stage;

static int (*chosen)(int argc, char **argv);

/* Finds what is named after a folder or a path, with _ for what no symbol can have. NULL: nothing is. */
static void *find(const char *name)
{
	char symbol[64];
	char *c;

	snprintf(symbol, sizeof(symbol), "%s", name);
	for (c = symbol; *c; c++)
		*c = (char)(isalnum((unsigned char)*c) ? *c : '_');
	return dlsym(RTLD_DEFAULT, symbol);
}

bool program_choose(const char *name)
{
	const char *role = strchr(name, '/');
	const struct our_stage *stage;
	char text[64];

	if (!role)
		return false;
	snprintf(text, sizeof(text), "%.*s", (int)(role - name), name);
	stage = find(text);
	if (stage)
		fake_stage = *stage;
	/* Each main has the path of its file as its name: see fake.mk. */
	if (stage)
		snprintf(text, sizeof(text), "program/%s_main", role + 1);
	else
		snprintf(text, sizeof(text), "beyond/%s", name);
	*(void **)&chosen = find(text);
	if (!chosen)
		*(void **)&chosen = find(name); /* an example */
	return chosen;
}

int program_main(int argc, char **argv)
{
	return chosen(argc, argv);
}
