/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * The text of --help. See runner.h.
 */
#include <stdio.h>

#include "verbs-sim/runner/runner.h"

void sim_print_usage(void)
{
	fputs("usage: verbs-sim [OPTION...] -- PROGRAM [ARGUMENT...] [::: PROGRAM [ARGUMENT...]]...\n"
	      "       verbs-sim [OPTION...] --steps FILE [-- PROGRAM [ARGUMENT...]...]\n"
	      "Runs programs of librdmacm and libibverbs on a simulated device, each when the one before it\n"
	      "sleeps. The same seed is the same run.\n"
	      "  --seed N         choose the order of events by this number (default 1)\n"
	      "  --seeds N        run with the seeds 1 to N, and stop at the first that fails, but\n"
	      "                   not because of what is left over\n"
	      "  --seeds M-N      the same, from M on\n"
	      "  --strategy S     random (the default): at any call any thread may go on; pct: few changes, so\n"
	      "                   that one thread may wait for long; busy: random, but now and then\n"
	      "                   one is held up; mixed: pct if the seed is odd, otherwise busy\n"
	      "  --iwarp          a device like soft-iWARP; without it, one like soft-RoCE\n"
	      "  --device KIND[,NAME=VALUE]...  a device: see README.md. May be given more than once\n"
	      "  --fail S:CALL:N  the Nth call of this name fails that program S (0, 1, ...) makes, or the Nth\n"
	      "                   command of the kernel, such as CREATE_QP\n"
	      "  --fail S:N       the Nth of all that it and its libraries ask: see --trace\n"
	      "  --fail S:N:HOW   in this way, such as ENOMEM, or 0 (errno is 0 then); or HOW is a signal\n"
	      "                   (SIGTERM), an asynchronous event (PORT_ERR), an event of the connection\n"
	      "                   manager (REJECTED=8), the status of the next completion (RETRY_EXC_ERR),\n"
	      "                   or REMOVAL of all devices; SILENCE of the program's host; FULL stdout. May\n"
	      "                   be given more than once\n"
	      "  --strict         report what a program does wrong, and the device puts up with\n"
	      "  --allow FINDING  not this one, which --strict or any run reports; one of\n"
	      "                  " SIM_FINDINGS "\n"
	      "  --steps FILE     do what its lines say, one after the other (-: stdin; each is answered on\n"
	      "                   stdout): start [<FILE] [>FILE] [2>FILE] PROGRAM [ARGUMENT...];\n"
	      "                   until S out|err TIMES TEXT; wait SECONDS [S]; signal S SIGNAL; look; end\n"
	      "  --sweep S[:HOW]  a run for each call of program S, in which it fails, or HOW happens at it;\n"
	      "                   reports the runs in which a program did not end by itself, crashed, or left\n"
	      "                   something over\n"
	      "  --leaks WAY      what is left over: fail (the default), report, or ignore\n"
	      "  --expect S:STATUS  program S has to end with this status; more than once: with one of them\n"
	      "  --servers N      the first N programs are servers, which may run until they are told to\n"
	      "                   stop (default 1, but 0 if there is one program); of any other that is\n"
	      "                   a failure\n"
	      "  --trace          print each call on stderr, with its simulated time, program and number\n"
	      "  --users          programs may become those of other users, as root's runner lets them: copy\n"
	      "                   messages between their memories for them\n"
	      "  --gdb S          run program S in gdb(1)\n"
	      "  --limit SECONDS  of real time in which a program has to make a call (default 60)\n"
	      "  --patience SECONDS  of simulated time after which programs that go on are told to\n"
	      "                   stop, with SIGTERM, as they are when all sleep forever (default 7200)\n"
	      "  --junit FILE     write a test case for each run into FILE, in JUnit's format\n"
	      "  -q, --quiet      with --seeds and --sweep, print the line of runs that fail, and the last\n"
	      "  --version        print the version, and its commit\n"
	      "  -h, --help       print this text\n"
	      "Exit status: 0, or that of the first program that failed (128+N: signal N); 2: wrong usage;\n"
	      "120: a program did not end by itself; 121: something was left over; 122: a call that is not\n"
	      "simulated; 123: a program that makes no call; 124: a program does wrong, and nothing tells it;\n"
	      "125: the simulation cannot go on; 127: no such program.\n",
	      stdout);
}
