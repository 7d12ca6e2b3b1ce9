# shellcheck shell=bash
# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
#
# Read by lib/fetch: finds a kernel and its modules in a directory: an unpacked package, a directory with a bzImage and
# lib/modules/RELEASE, or a tree in which a kernel was built.

# locate DIR: set kernel_image, kernel_release, and installed_modules or, if DIR is a build tree, from_build=1. Sets
# watched to the files whose change makes the cache's entry out of date.
locate() {
	local images=() name
	for name in "${arch_images[@]}"; do
		[ ! -f "$1/$name" ] || images+=("$1/$name")
	done
	[ "${#images[@]}" != 0 ] || mapfile -t images < <(compgen -G "$(quoted "$1")/boot/vmlinuz-*")
	[ "${#images[@]}" != 0 ] || die "there is no kernel in $1 (${arch_images[*]}): has it been built?"
	[ "${#images[@]}" = 1 ] || [[ ${images[0]} != */boot/vmlinuz-* ]] || die "there are several kernels in $1/boot"
	kernel_image=${images[0]}
	kernel_release=$(arch_kernel_release "$kernel_image") || die "$kernel_image is not a kernel for this architecture"
	locate_modules "$1"
	watched+=("$kernel_image")
}

quoted() { printf '%s' "$1" | sed 's/[][*?\\]/\\&/g'; }

locate_modules() {               # locate_modules DIR
	local name built
	installed_modules='' from_build=0
	for name in lib usr/lib; do
		[ ! -d "$1/$name/modules/$kernel_release" ] || installed_modules=$1/$name/modules/$kernel_release
	done
	if [ -n "$installed_modules" ]; then
		watched+=("$installed_modules"/modules.{order,builtin,dep})
		return
	fi
	built=$(cat "$1/include/config/kernel.release" 2>/dev/null) ||
		die "$kernel_image is of release $kernel_release, and $1/lib/modules has no directory of that name"
	[ "$built" = "$kernel_release" ] ||
		die "$1 was configured as $built after its kernel was built as $kernel_release: build it again"
	[ -f "$1/modules.order" ] || die "the modules in $1 have not been built: make modules"
	from_build=1 build_tree=$1
	watched+=("$1"/.config "$1"/modules.{order,builtin} "$1"/drivers/infiniband/sw/siw/siw.ko)
	mapfile -t -O "${#watched[@]}" watched < <(siw_source "$1" && ls -d "$REPLY"/*.[ch])
}

# siw_source TREE: set REPLY to the directory of the driver's source, which is another tree if it was built with O=.
siw_source() {
	for REPLY in "$1"/drivers/infiniband/sw/siw "$1"/source/drivers/infiniband/sw/siw; do
		[ ! -f "$REPLY/siw_cm.c" ] || return 0
	done
	return 1
}

# gather_modules DIR: make links to all modules, as depmod expects them, in $work/modules.
gather_modules() {
	local to=$work/modules/lib/modules/$kernel_release name
	rm -rf "$work/modules"
	mkdir -p "$to"
	if [ "$from_build" = 0 ]; then
		for name in kernel updates extra modules.order modules.builtin modules.builtin.modinfo; do
			[ ! -e "$installed_modules/$name" ] || ln -s "$installed_modules/$name" "$to/"
		done
		return
	fi
	mkdir "$to/kernel"
	# Lines are drivers/x.o, or in older kernels kernel/drivers/x.ko.
	dir=$1 awk '{ sub(/^kernel\//, ""); sub(/\.k?o$/, ".ko"); print ENVIRON["dir"] "/" $0 }' "$1/modules.order" |
		xargs -d '\n' -r ln -s -t "$to/kernel" || return 1
	for name in modules.builtin modules.builtin.modinfo; do
		[ ! -e "$1/$name" ] || ln -s "$1/$name" "$to/"
	done
}

# check_config FILE...: fail unless the first of them that exists has all that the guest needs (lab/kernel.config).
check_config() {
	local file line lacking=()
	for file in "$@"; do
		[ -f "$file" ] || continue
		while read -r line; do
			[[ $line == CONFIG_* ]] || continue
			line=${line/CONFIG_SERIAL_8250_CONSOLE/$arch_console_option}
			grep -qE "^${line%=*}=(y|${line#*=})\$" "$file" || lacking+=("$line")
		done <"$lab_dir/kernel.config"
		[ "${#lacking[@]}" = 0 ] || die "this kernel cannot run in the lab; $file lacks ${lacking[*]} (lab/kernel.config)"
		return
	done
}
