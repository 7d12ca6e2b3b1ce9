# shellcheck shell=bash
# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
#
# The cache's entries. A kernel is the directory <cache>/kernels/<release>_<package version>/ with two parts: kernel/
# (image, initramfs of modules, and files of one line each: release, origin) and siw/ (the soft-iWARP module). A part is
# made in another directory and then renamed, so it is never incomplete. Its file `manifest` has a sha256 of each file.
# This file finds and checks entries, lib/fetch makes them, and lib/which.sh chooses the entry for --kernel.

siw_patched=3                     # version of the patches that the module has

# part_ok DIR: true if the part is there and undamaged. Files are hashed again only if their size or time has changed.
part_ok() {
	[ -f "$1/manifest" ] || return 1
	local seen
	seen=$(cd "$1" && part_stamp 2>/dev/null) || return 1
	[ "$seen" = "$(cat "$1/checked" 2>/dev/null)" ] && return 0
	(cd "$1" && sha256sum --status --strict -c manifest 2>/dev/null) || return 1
	printf '%s\n' "$seen" 2>/dev/null >"$1/checked" || true
}

part_stamp() {
	local files
	mapfile -t files < <(cut -c 67- manifest)
	[ "${#files[@]}" -gt 0 ] && stat -c '%n %s %Y %Z %i' manifest "${files[@]}"
}

# seal DIR: write the manifest of a finished part.
seal() {
	(cd "$1" && sha256sum -- * >.manifest && mv .manifest manifest && part_stamp >checked)
}

# siw_ok ENTRY: true if its soft-iWARP module is there, undamaged, and patched as lib/siw.sh does it now.
siw_ok() {
	part_ok "$1/siw" && [ "$(cat "$1/siw/mended" 2>/dev/null)" = "$siw_patched" ]
}

# entry_ready NAME WANT_SIW: true if the entry has the kernel, and with WANT_SIW 1 the soft-iWARP module, undamaged.
entry_ready() {
	[ -n "$1" ] && part_ok "$cache/kernels/$1/kernel" && { [ "$2" = 0 ] || siw_ok "$cache/kernels/$1"; }
}

# look_again: true every 14 days, when it is time to look for a newer kernel of Debian's; never in a cache that others fill.
look_again() {
	[ -w "$cache" ] && [ -z "$(find "$index" -mtime -14 2>/dev/null)" ]
}

# answered WANT_SIW: true if the cache has the kernel that was asked for, made from files that have not changed since.
answered() {
	read_index "$index"
	entry_ready "$index_entry" "$1" && unchanged && { [ "${#index_files[@]}" != 0 ] || ! look_again; }
}

# require_kernel WANT_SIW LOOK: set `entry` to the directory with the kernel that is wanted. Fills the cache if needed.
require_kernel() {
	local lock=$cache/lock rc=0
	question
	if [ "$2" = 0 ] && answered "$1" && root_ready; then
		entry=$cache/kernels/$index_entry
		return
	fi
	mkdir -p "$cache" 2>/dev/null || die "cannot write to the cache $cache"
	{ : >>"$lock"; } 2>/dev/null || die "cannot write to the cache $cache"
	need flock util-linux
	if ! flock -n "$lock" true; then
		say "another lab is filling the cache; waiting for it"
	fi
	# -o: only flock holds the lock, not its children, so that nobody waits for children of a process that has died.
	flock -o -w 900 -E 99 "$lock" "$lab_dir/lib/fetch" "$1" "$2" "$quiet" "$verbose" "$kernel_kind" "$kernel_which" \
		"$kernel_sources" || rc=$?
	[ $rc != 99 ] || die "another lab has held $lock for 15 minutes: end it, or set XDG_CACHE_HOME"
	[ $rc = 0 ] || exit $rc
	read_index "$index"
	entry_ready "$index_entry" "$1" || die "the cache in $cache cannot be used although it was just filled: disk full?"
	entry=$cache/kernels/$index_entry
}

# describe ENTRY: print one line about a cached kernel: its release, its origin, and whether it has soft-iWARP.
describe() {
	local siw="no siw"
	! part_ok "$1/siw" || siw=$(cat "$1/siw/origin")
	printf '%s (%s; %s)' "$(cat "$1/kernel/release")" "$(cat "$1/kernel/origin")" "$siw"
}

# list_kernels: print the kernels in the cache, and below each the options that select it.
list_kernels() {
	local dir question
	for dir in "$cache"/kernels/*; do
		part_ok "$dir/kernel" || continue
		printf '%-12s %s\n' cached "$(describe "$dir")"
		for question in "$cache"/asked/*; do
			read_index "$question"
			[ "$index_entry" != "${dir##*/}" ] || say_question "${question##*/}"
		done
	done
}

say_question() {                 # say_question FILE: the options, and the release of other hosts
	local where=
	[[ $1 == "$host_release"-* ]] || where=" (on ${1%%-*})"
	printf '%-12s --kernel %s%s%s\n' "" "$index_which" "${index_sources:+ --sources $index_sources}" "$where"
}

# keep_wanted: remove the entries that no question leads to, and did not before its last change; and those of a path that
# no longer exists.
keep_wanted() {
	local dir question wanted=' '
	for question in "$cache"/asked/*; do
		read_index "$question"
		[[ $index_which != /* ]] || [ -e "$index_which" ] || { rm "$question" && continue; }
		wanted="$wanted$index_entry $index_before "
	done
	for dir in "$cache"/kernels/*; do
		[[ $wanted == *" ${dir##*/} "* ]] || rm -rf "$dir"
	done
}
