# shellcheck shell=bash
# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
#
# Read by lib/fetch: obtains a kernel of Debian's, or one that a path names. Both fill the entry $name of the cache and
# make it the answer to the question (lib/which.sh).

# damaged PART WHAT: say why a part that there is has to be made again.
damaged() {
	local part=$cache/kernels/$name/$1 why=damaged
	! part_ok "$part" || why="of an earlier lab"
	[ ! -d "$part" ] || say "the cached $2 is $why: making it again"
}

# complete: make the parts that the package's entry lacks. Returns 1 if something could not be downloaded.
complete() {
	name=${kernel_release}_$kernel_version
	if ! part_ok "$cache/kernels/$name/kernel"; then
		damaged kernel kernel
		fetch_packages "the kernel $kernel_release" "$kernel_package=$kernel_version" || return 1
		locate "$work/root"
		make_kernel "$work/root" "package ${kernel_package} $kernel_version${via:+ from $via}"
		publish kernel
		take_siw
	fi
	[ -n "$have" ] || write_index "$name" "$via" || trouble "cannot write the cache"
	if [ "$want_siw" = 1 ] && ! siw_ok "$cache/kernels/$name"; then
		damaged siw "siw module"
		siw_headers || return 1
		siw_from_debian || return 1
	fi
	write_index "$name" "$via" || trouble "cannot write the cache"
}

# find_cached: without a network, use a kernel of the cache.
find_cached() {
	local found
	[ "$kernel_kind" = version ] || return 1
	found=$(cd "$cache/kernels" 2>/dev/null && printf '%s\n' *_* | tr _ ' ' | pick_kernel "$kernel_which") || return 1
	[ -n "$found" ] || return 1
	kernel_release=${found% *} kernel_version=${found#* } kernel_package=linux-image-$kernel_release via=''
}

obtain_package() {
	local what="linux-image-$arch_suffix"
	[ "$kernel_kind" = default ] || what="kernel $kernel_which"
	search find_kernel || find_cached || trouble "apt knows no $what: is there a network, and is this Debian?"
	complete && return
	if [ "$fresh" = 0 ]; then          # perhaps the lists were older than the archive
		use_own_lists
		refresh_lists
		find_kernel && complete && return
	fi
	[ ! -d "$cache/kernels/$name/kernel" ] || siw_headers ||
		trouble "apt has no linux-headers-$kernel_release $kernel_version (is there a network?); lab/run --roce does without siw"
	trouble "cannot download the kernel's packages: is there a network?"
}

# look_for_newer: if it fails, this is no error.
look_for_newer() {
	touch "$index"
	if [ -n "$index_via" ] && [ -f "$index_via" ]; then
		use_sources "$index_via"
		(quiet=1 && refresh_lists) 2>/dev/null || true
	fi
	[ -z "$index_entry" ] || ! part_ok "$cache/kernels/$index_entry/siw" || want_siw=1
	if find_kernel && [ "${kernel_release}_$kernel_version" != "$have" ]; then
		(complete) || say "keeping the cached kernel $have"
	fi
}

# obtain_path: fill the entry from a .deb or a directory. The name of its entry depends on the state of its files.
obtain_path() {
	local dir=$kernel_which
	if [ "$kernel_kind" = deb ]; then
		dir=$work/root
		watched=()
		mkdir "$dir"
		logged dpkg -x "$kernel_which" "$dir" || trouble "cannot unpack $kernel_which"
		kernel_version=$(dpkg-deb -f "$kernel_which" Version 2>"$work/log") || trouble "cannot read $kernel_which"
		locate "$dir"
		watched=("$kernel_which")
	else
		locate "$dir"
		check_config "$dir/.config" "$dir/config" "$dir/config-$kernel_release" "$dir/boot/config-$kernel_release"
	fi
	say "reading the kernel $kernel_release from $kernel_which"
	make_kernel "$dir" "$kernel_which"
	[ "$kernel_kind" = deb ] || mapfile -t -O "${#watched[@]}" watched < <(xargs -d '\n' -r readlink -f <"$work/kernel.modules")
	name=${kernel_release}_path-$({ echo "$kernel_which"; state_of "${watched[@]}"; } | checksum)
	part_ok "$cache/kernels/$name/kernel" || publish kernel
	take_siw
	write_index "$name" '' "${watched[@]}" || trouble "cannot write the cache"
	[ "$want_siw" = 0 ] || siw_ok "$cache/kernels/$name" || path_siw
}

path_siw() {
	if [ "$from_build" = 1 ]; then
		siw_from_tree "$build_tree" ||
			die "$build_tree has neither siw nor its source (CONFIG_RDMA_SIW); lab/run --roce does not need it"
		return
	fi
	search siw_headers ||
		trouble "this kernel has no siw, and apt no linux-headers-$kernel_release to build one: see --sources, or use --roce"
	siw_from_debian || trouble "cannot download what soft-iWARP is built from: is there a network?"
}
