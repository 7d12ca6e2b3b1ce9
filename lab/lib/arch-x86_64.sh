# shellcheck shell=bash
# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
#
# All that is specific to x86-64. For another architecture write a file that defines the same names.

arch_qemu=qemu-system-x86_64
arch_qemu_package=qemu-system-x86
arch_machine=(-M "q35,usb=off,hpet=off")
arch_cpu_kvm=host
# Without erms and fsrm, the kernel and the C library copy and clear memory by eight bytes or more at a time. With them,
# both use string instructions, which QEMU emulates byte by byte. With fsrm alone, which QEMU 10 has and QEMU 7.2 does
# not have, Linux 6.1 hangs before its first message.
arch_cpu_tcg="max,la57=off,erms=off,fsrm=off"
# Much of the rest saves boot time: no self-tests of the ciphers, no waiting for grace periods.
# The guest's clock is the host's time-stamp counter: its clock_gettime() then costs no system call.
arch_console=ttyS0
arch_cmdline="console=$arch_console tsc=reliable clocksource=tsc no_timer_check mitigations=off i8042.noaux i8042.nokbd"
arch_cmdline="$arch_cmdline cryptomgr.notests rcupdate.rcu_expedited=1"

# Modules in the order of loading; modprobe finds their dependencies. The guest skips modules that are built in, or that are
# for another processor; if a device is missing then, it fails and names the device.
arch_boot_modules=(virtio_pci virtio_console 9p 9pnet_virtio virtio-rng)
arch_rdma_modules=(crc32_generic crc32c_generic crc32-pclmul libcrc32c ib_uverbs rdma_ucm rdma_rxe dummy veth virtio_net
	sch_netem)

# Places of the kernel in a directory that --kernel names.
arch_images=(arch/x86/boot/bzImage bzImage vmlinuz)
arch_suffix=amd64                # Debian's name, with which the names of its kernel packages end
arch_console_option=CONFIG_SERIAL_8250_CONSOLE
arch_kbuild=x86                  # the architecture's name in the kernel's makefiles
arch_cross=x86_64-linux-gnu-     # prefix of the names of cross-compilers

# arch_kernel_release VMLINUZ: print the release that it was built as; false if it is no kernel.
arch_kernel_release() {
	[ "$(dd if="$1" bs=1 skip=514 count=4 status=none)" = HdrS ] || return 1
	dd if="$1" bs=1 skip=$(($(byte_field "$1" 526 2) + 512)) count=64 status=none | tr '\0' ' ' | cut -d ' ' -f 1
}

# arch_kernel_image VMLINUZ OUT: extract the kernel from its self-extracting image, because the host does this in 0.5 s, an
# emulated CPU in 2.5 s. Returns 1 if that is not possible because the compression is unknown or QEMU could not start the
# result (no PVH entry); 2 if extracting it failed.
arch_kernel_image() {
	local setup offset length
	setup=$(byte_field "$1" 497 1)              # size of the real-mode part, in sectors
	offset=$(byte_field "$1" 584 4)             # payload_offset
	length=$(byte_field "$1" 588 4)             # payload_length
	offset=$(((setup + 1) * 512 + offset))
	{ tail -c +$((offset + 1)) "$1" || true; } | head -c "$length" >"$2.packed" || return 2
	unpack_any "$2.packed" "$2" || return $?
	rm "$2.packed"
	[ "$(head -c 4 "$2" | tail -c 3)" = ELF ] && has_pvh "$2"
}

# The ELF note with the entry point for QEMU: type 18 of the owner "Xen".
has_pvh() { LC_ALL=C grep -aqP '\x04\0\0\0[\x04\x08]\0\0\0\x12\0\0\0Xen\0' "$1"; }

byte_field() {                   # byte_field FILE OFFSET SIZE: an unsigned little-endian number
	od -An -v -t "u$3" -j "$2" -N "$3" "$1" | tr -d ' '
}

# unpack_any IN OUT: unpack xz, zstd or gzip. The size that follows the packed data is no error.
unpack_any() {
	case $(od -An -v -t x1 -N 4 "$1" | tr -d ' ') in
	fd377a58) xz -dc --single-stream "$1" >"$2" || return 2 ;;
	28b52ffd) head -c -4 "$1" | zstd -dcq >"$2" || return 2 ;;
	1f8b*) gzip -dcq "$1" >"$2" || [ $? = 2 ] || return 2 ;;
	*) return 1 ;;
	esac
}
