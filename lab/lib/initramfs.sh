# shellcheck shell=bash
# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
#
# The initramfs is three archives one after the other: busybox and the modules, and the siw module (both made once for
# each kernel), and the files of this run (a few KB, made each time). They are not compressed, because unpacking would
# take the guest longer than reading. Errors are reported on stderr.

archive() { (cd "$1" && find . | LC_ALL=C sort | cpio -o -H newc --quiet -R 0:0); }

# module_list ROOT RELEASE MODULE...: print the files of the modules and of their dependencies, in the order of loading.
module_list() {
	local root=$1 release=$2 module
	shift 2
	for module in "$@"; do
		modprobe -C /dev/null -d "$root" -S "$release" --show-depends "$module" 2>/dev/null |
			sed -n 's/^insmod \(.*\.ko\(\.[a-z]*\)\{0,1\}\) .*/\1/p' || true
	done | awk '!seen[$0]++'
}

unpack_module() {                # unpack_module FILE OUT
	case $1 in
	*.xz) xz -dc "$1" >"$2" ;;
	*.zst) zstd -dcq "$1" >"$2" ;;
	*.gz) gzip -dc "$1" >"$2" ;;
	*) if [ "$from_build" = 1 ]; then strip --strip-debug -o "$2" "$1"; else cp "$1" "$2"; fi ;;
	esac
}

add_modules() {                  # add_modules LIST: copy each file named on stdin, unpacked, and note its name
	local file name
	while read -r file; do
		name=$(basename "$file")
		name=${name%.ko*}.ko
		unpack_module "$file" "$tree/modules/$name" || return 1
		printf '%s\n' "$name" >>"$tree/$1"
	done
}

# base_initramfs ROOT RELEASE OUT: ROOT/lib/modules/RELEASE has the modules. The file OUT.modules names those that were
# copied, and siw's if there is one.
base_initramfs() {
	local tree=$3/tree/lab
	mkdir -p "$tree/modules"
	: >"$tree/modules.boot"
	: >"$tree/modules.rdma"
	depmod -b "$1" "$2" || return 1
	modprobe -C /dev/null -d "$1" -S "$2" --show-depends rdma_ucm >/dev/null || return 1
	module_list "$1" "$2" "${arch_boot_modules[@]}" >"$3.boot"
	module_list "$1" "$2" "${arch_boot_modules[@]}" "${arch_rdma_modules[@]}" siw >"$3.modules"
	add_modules modules.boot <"$3.boot" || return 1
	{ grep -vxFf "$3.boot" "$3.modules" || true; } | { grep -v '/siw\.ko[^/]*$' || true; } |
		add_modules modules.rdma || return 1
	cp "$guest_root/bin/busybox" "$tree/busybox" || return 1
	archive "$3/tree" >"$3/base.cpio" || return 1
	rm -rf "$3/tree" "$3.boot"
}

# run_initramfs DIR OUT: DIR holds this run's files.
run_initramfs() {
	{
		cat "$entry/kernel/base.cpio"
		[ "$want_iwarp" = 0 ] || cat "$entry/siw/siw.cpio"
		archive "$1"
	} >"$2"
}
