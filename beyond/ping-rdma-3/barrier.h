/* SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only */
/*
 * ping-rdma-3: the order of our loads and stores, as a device sees it that reads or writes the same
 * memory. The orders of C11 (acquire and release) are between threads. On arm64 a compiler makes of them
 * instructions that order accesses for the other CPUs, the inner shareable domain (ldar, dmb ish), while
 * Linux takes devices for members of the outer one. So here are the instructions that the providers of
 * rdma-core use (util/udma_barrier.h, which is not installed). On x86-64, POWER and RISC-V the fences of
 * C11 order normal memory as well as those do. Any thread.
 */
#ifndef OUR_BARRIER_H
#define OUR_BARRIER_H

/*
 * Use it after a load that has found what the device wrote. What is read or written from here on
 * comes after what was read before, so we see what the device wrote before that.
 */
#ifdef __aarch64__
#define our_from_device_barrier() __asm__ volatile("dmb oshld" ::: "memory")
#else
#define our_from_device_barrier() __atomic_thread_fence(__ATOMIC_ACQUIRE)
#endif

/* Use it between stores. A device that sees a store after the barrier sees all stores before it. */
#ifdef __aarch64__
#define our_to_device_barrier() __asm__ volatile("dmb oshst" ::: "memory")
#else
#define our_to_device_barrier() __atomic_thread_fence(__ATOMIC_RELEASE)
#endif

#endif
