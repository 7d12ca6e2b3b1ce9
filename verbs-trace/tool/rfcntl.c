/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * verbs-trace, the tool: rfcntl, the only function with a variable number of arguments. generate.py
 * writes the others.
 */
#include <stdarg.h>
#include <rdma/rsocket.h>

#include "verbs.h"
#include "verbs-trace/tool/call.h"
#include "verbs-trace/tool/real.h"

EXPORTED int rfcntl(int socket, int cmd, ...)
{
	__typeof__(&rfcntl) real = (__typeof__(&rfcntl))real_function(VERB_rfcntl);
	struct call call;
	va_list arguments;
	long argument;
	int ret;

	va_start(arguments, cmd);
	argument = va_arg(arguments, long);
	va_end(arguments);
	if (!tracing)
		return real(socket, cmd, argument);
	call_begin(&call, VERB_rfcntl);
	ret = real(socket, cmd, argument);
	call_end(&call, error_of_minus1(ret));
	if (call_show(&call)) {
		out_signed(call.out, "socket", socket);
		out_signed(call.out, "cmd", cmd);
		out_signed(call.out, "argument", argument);
		call_result_number(&call, ret);
	}
	call_leave(&call);
	return ret;
}
