# shellcheck shell=bash
# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
#
# The cache's entries. A kernel is the directory <cache>/kernels/<release>_<package version>/ with two parts: kernel/
# (image, initramfs of modules, and in files of a line each: release, origin) and siw/ (the soft-iWARP module). A part
# is made beside and renamed, so it is whole or absent. Its file `manifest` holds a sha256 of each file. Which entry
# answers what --kernel says is in lib/which.sh. Here: find and check entries; lib/fetch makes them.

# part_ok DIR: the part is there and unharmed. Contents are hashed again only when size or times have changed.
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

# entry_ready NAME WANT_SIW
entry_ready() {
	[ -n "$1" ] && part_ok "$cache/kernels/$1/kernel" && { [ "$2" = 0 ] || part_ok "$cache/kernels/$1/siw"; }
}

# look_again: true when it is time to see whether Debian has a newer kernel (every 14 days).
look_again() {
	[ -z "$(find "$index" -mtime -14 2>/dev/null)" ]
}

# answered WANT_SIW: the cache has what was asked for, as it is today.
answered() {
	read_index "$index"
	entry_ready "$index_entry" "$1" && unchanged && { [ "${#index_files[@]}" != 0 ] || ! look_again; }
}

# require_kernel WANT_SIW LOOK: set `entry` to a directory that has what is wanted, filling the cache where needed.
require_kernel() {
	local lock=$cache/lock rc=0
	question
	if [ "$2" = 0 ] && answered "$1"; then
		entry=$cache/kernels/$index_entry
		return
	fi
	mkdir -p "$cache" 2>/dev/null || die "cannot write to the cache $cache"
	{ : >>"$lock"; } 2>/dev/null || die "cannot write to the cache $cache"
	need flock util-linux
	if ! flock -n "$lock" true; then
		say "another lab is filling the cache; waiting for it"
	fi
	# -o: only flock holds the lock, not what it runs, so that nobody waits for a dead holder's orphans.
	flock -o -w 900 -E 99 "$lock" "$lab_dir/lib/fetch" "$1" "$2" "$quiet" "$verbose" "$kernel_kind" "$kernel_which" \
		"$kernel_sources" || rc=$?
	[ $rc != 99 ] || die "another lab has held $lock for 15 minutes: end it, or set XDG_CACHE_HOME"
	[ $rc = 0 ] || exit $rc
	read_index "$index"
	entry_ready "$index_entry" "$1" || die "the cache in $cache is not usable after filling it: disk full?"
	entry=$cache/kernels/$index_entry
}

# describe ENTRY: one line about a cached kernel: its release, where it comes from, and its soft-iWARP.
describe() {
	local siw="no siw"
	! part_ok "$1/siw" || siw=$(cat "$1/siw/origin")
	printf '%s (%s; %s)' "$(cat "$1/kernel/release")" "$(cat "$1/kernel/origin")" "$siw"
}

# list_kernels: what the cache has, and below each what to say to get it.
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

say_question() {                 # say_question FILE: the options; of another release's host they would ask something else
	local where=
	[[ $1 == "$host_release"-* ]] || where=" (on ${1%%-*})"
	printf '%-12s --kernel %s%s%s\n' "" "$index_which" "${index_sources:+ --sources $index_sources}" "$where"
}

# keep_wanted: remove the entries that no question leads to, nor did before its last change; nor one about a path that
# has gone.
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
