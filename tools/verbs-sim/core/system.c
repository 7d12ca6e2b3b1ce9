/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * System calls of the simulation itself: see world.h. They bypass libc, because the preloaded
 * library replaces its functions for the program, even syscall(2).
 */
#include <errno.h>
#include <stdarg.h>

#include "verbs-sim/core/world.h"

#if defined(__x86_64__)

static long enter_kernel(long number, const long *a)
{
	register long r10 __asm__("r10") = a[3];
	register long r8 __asm__("r8") = a[4];
	register long r9 __asm__("r9") = a[5];
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a[0]), "S"(a[1]), "d"(a[2]), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}

#elif defined(__aarch64__)

static long enter_kernel(long number, const long *a)
{
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a[0];
	register long x1 __asm__("x1") = a[1];
	register long x2 __asm__("x2") = a[2];
	register long x3 __asm__("x3") = a[3];
	register long x4 __asm__("x4") = a[4];
	register long x5 __asm__("x5") = a[5];

	__asm__ volatile("svc 0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory");
	return x0;
}

#else
/* cppcheck-suppress preprocessorErrorDirective */
#error "how does a program call the kernel on this processor?"
#endif

long sim_system(long number, ...)
{
	va_list arguments;
	long a[6], result;
	int i;

	va_start(arguments, number);
	for (i = 0; i < 6; i++)
		a[i] = va_arg(arguments, long);
	va_end(arguments);
	result = enter_kernel(number, a);
	if (result >= 0 || result < -4095)
		return result;
	errno = (int)-result;
	return -1;
}
