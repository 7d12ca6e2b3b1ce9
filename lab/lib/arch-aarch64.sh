# shellcheck shell=bash
# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
#
# All that is specific to arm64. See arch-x86_64.sh.

arch_qemu=qemu-system-aarch64
arch_qemu_package=qemu-system-arm
arch_machine=(-M "virt,gic-version=max")
arch_cpu_kvm=host
# Pointers are signed by QEMU's own quick method, because the architecture's is slow to emulate.
arch_cpu_tcg=max,pauth-impdef=on
arch_console=ttyAMA0
arch_cmdline="console=$arch_console mitigations=off cryptomgr.notests rcupdate.rcu_expedited=1"

arch_boot_modules=(virtio_pci virtio_console 9p 9pnet_virtio virtio-rng)
arch_rdma_modules=(crc32_generic crc32c_generic crc32-ce libcrc32c ib_uverbs rdma_ucm rdma_rxe dummy veth virtio_net
	sch_netem)

arch_images=(arch/arm64/boot/Image Image vmlinuz)
arch_suffix=arm64
arch_console_option=CONFIG_SERIAL_AMBA_PL011_CONSOLE
arch_kbuild=arm64                # the architecture's name in the kernel's makefiles
arch_cross=aarch64-linux-gnu-

# The image may be packed; QEMU starts it as it is or unpacked.
arch_kernel_release() {
	local image
	image=$(mktemp) || return 1
	arch_kernel_image "$1" "$image" &&
		LC_ALL=C grep -aom1 'Linux version [0-9][^ ]* ([^%]' "$image" | { read -r _ _ release _ && echo "$release"; }
	set -- $?
	rm -f "$image"
	return "$1"
}

# arch_kernel_image VMLINUZ OUT: returns 1 if it is no kernel for arm64; 2 if unpacking it failed.
arch_kernel_image() {
	case $(od -An -v -t x1 -N 2 "$1" | tr -d ' ') in
	1f8b) gzip -dcq "$1" >"$2" || [ $? = 2 ] || return 2 ;;
	*) cp "$1" "$2" || return 2 ;;
	esac
	[ "$(dd if="$2" bs=1 skip=56 count=4 status=none)" = ARMd ]
}
