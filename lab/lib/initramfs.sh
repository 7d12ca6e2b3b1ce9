# shellcheck shell=bash
# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
#
# The initramfs is three archives one after the other: busybox and the modules (made once a kernel), the siw module
# (likewise), and what this run wants (made each time, a few KB). Nothing is packed: unpacking costs the guest more.

archive() { (cd "$1" && find . | LC_ALL=C sort | cpio -o -H newc --quiet -R 0:0); }

# module_list ROOT RELEASE MODULE...: files of the modules and all they depend on, in the order of loading.
module_list() {
	local root=$1 release=$2 module
	shift 2
	for module in "$@"; do
		modprobe -C /dev/null -d "$root" -S "$release" --show-depends "$module" 2>/dev/null |
			sed -n 's/^insmod \([^ ]*\).*/\1/p' || true
	done | awk '!seen[$0]++'
}

add_modules() {                  # add_modules LIST: copy each file named on stdin, unpacked, and note its name
	local file name
	while read -r file; do
		name=$(basename "$file")
		name=${name%.xz}
		name=${name%.zst}
		case $file in
		*.xz) xz -dc "$file" >"$tree/modules/$name" ;;
		*.zst) zstd -dcq "$file" >"$tree/modules/$name" ;;
		*) cp "$file" "$tree/modules/$name" ;;
		esac
		printf '%s\n' "$name" >>"$tree/$1"
	done
}

# base_initramfs ROOT RELEASE OUT: ROOT holds the unpacked kernel package.
base_initramfs() {
	local tree=$3/tree/lab
	mkdir -p "$tree/modules"
	depmod -b "$1" "$2" 2>/dev/null || return 1
	module_list "$1" "$2" "${arch_boot_modules[@]}" | add_modules modules.boot || return 1
	module_list "$1" "$2" "${arch_rdma_modules[@]}" | grep -vxFf <(module_list "$1" "$2" "${arch_boot_modules[@]}") |
		add_modules modules.rdma || return 1
	cp /bin/busybox "$tree/busybox"
	archive "$3/tree" >"$3/base.cpio" || return 1
	rm -rf "$3/tree"
}

# run_initramfs DIR OUT: DIR holds this run's files.
run_initramfs() {
	{
		cat "$entry/kernel/base.cpio"
		[ "$want_iwarp" = 0 ] || cat "$entry/siw-mended/siw.cpio"
		archive "$1"
	} >"$2"
}
