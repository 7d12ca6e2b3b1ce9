# shellcheck shell=bash
# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
#
# The cache's entries. A kernel is the directory <cache>/<package version>/ with two parts: kernel/ (image, initramfs
# of modules) and siw-mended/ (the soft-iWARP module). A part is made beside and renamed, so it is whole or absent. Its
# file `manifest` holds a sha256 of each file. Here: find and check entries; lib/fetch makes them.

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

# newest_entry: the newest cached version, whole or not.
newest_entry() {
	local entry
	for entry in "$cache"/*/kernel; do
		[ ! -d "$entry" ] || basename "$(dirname "$entry")"
	done | sort -V | tail -n 1
}

# entry_ready VERSION WANT_SIW
entry_ready() {
	[ -n "$1" ] && part_ok "$cache/$1/kernel" && { [ "$2" = 0 ] || part_ok "$cache/$1/siw-mended"; }
}

# look_again: true when it is time to see whether Debian has a newer kernel (every 14 days).
look_again() {
	[ -z "$(find "$cache/looked" -mtime -14 2>/dev/null)" ]
}

# require_kernel WANT_SIW LOOK: set `entry` to a directory that has what is wanted, filling the cache where needed.
require_kernel() {
	local version lock=$cache/lock rc=0
	version=$(newest_entry)
	if [ "$2" = 0 ] && entry_ready "$version" "$1" && ! look_again; then
		entry=$cache/$version
		return
	fi
	mkdir -p "$cache" 2>/dev/null || die "cannot write to the cache $cache"
	{ : >>"$lock"; } 2>/dev/null || die "cannot write to the cache $cache"
	need flock util-linux
	if ! flock -n "$lock" true; then
		say "another lab is filling the cache; waiting for it"
	fi
	# -o: only flock holds the lock, not what it runs, so that nobody waits for a dead holder's orphans.
	flock -o -w 900 -E 99 "$lock" "$lab_dir/lib/fetch" "$1" "$2" "$quiet" "$verbose" || rc=$?
	[ $rc != 99 ] || die "another lab has held $lock for 15 minutes: end it, or set XDG_CACHE_HOME"
	[ $rc = 0 ] || exit $rc
	version=$(newest_entry)
	entry_ready "$version" "$1" || die "the cache in $cache is not usable after filling it: disk full?"
	entry=$cache/$version
}
