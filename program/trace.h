/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The options -t and -T: the program executes itself again, under the tool verbs-trace, which prints
 * on stderr each verb that the program calls (docs/verbs-trace.md). The program contains no code for
 * this besides the call of execv(2).
 */
#ifndef OUR_TRACE_H
#define OUR_TRACE_H

enum our_trace_level {
	OUR_TRACE_NOTHING,
	OUR_TRACE_CALLS,    /* of the calls that move messages only the first on each queue */
	OUR_TRACE_MESSAGES, /* each call */
};

/*
 * Executes this program with the same arguments under verbs-trace, in the same process; each line
 * of the trace begins with our_program_name(). Returns 0 if there is nothing to do, because `level`
 * is OUR_TRACE_NOTHING or because the program has already been executed in this way. Returns EINVAL
 * if verbs-trace cannot be executed, reported with the remedy; ENOMEM, reported. Call it from main,
 * before there is another thread or a descriptor.
 *
 * The tool is the file that the environment variable VERBS_TRACE_TOOL names; otherwise where it was
 * when the program was built (the macro OUR_VERBS_TRACE), or in the directory verbs-trace/ of this
 * project, or beside the program.
 */
int our_trace(enum our_trace_level level, int argc, char **argv);

#endif
