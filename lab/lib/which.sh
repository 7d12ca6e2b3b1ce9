# shellcheck shell=bash
# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
#
# Reads --kernel, and the cache's index. A question is what --kernel and --sources ask for. The file
# <cache>/asked/<question> names the entry that answers it; its time is when Debian's archive was last asked. keep_wanted
# (kernel.sh) removes an entry that no question leads to.

# The host's release is part of each question, because hosts with several releases may share a home directory.
host_release=$(. /etc/os-release 2>/dev/null && echo "${VERSION_CODENAME:-${ID:-}}") || true
host_release=${host_release:-unknown}

# choose_kernel OPTION WHICH: set kernel_kind (default, version, deb or directory) and kernel_which.
choose_kernel() {
	case $2 in
	'' | default) kernel_kind=default kernel_which=default ;;
	*/* | *.deb | [!0-9]*) choose_path "$1" "$2" ;;
	*)
		[[ $2 =~ ^[0-9][A-Za-z0-9.+~:-]*$ ]] || usage_error "$1: '$2' is not the version of a kernel"
		kernel_kind=version kernel_which=$2
		;;
	esac
}

choose_path() {                  # choose_path OPTION PATH
	[[ $2 != *$'\n'* ]] || usage_error "$1: a line feed in a name cannot be handled"
	kernel_which=$(readlink -e -- "$2") ||
		usage_error "$1: there is no file or directory $2 (a version begins with a digit)"
	if [ -d "$kernel_which" ]; then
		kernel_kind=directory
	elif [[ $kernel_which == *.deb ]]; then
		kernel_kind=deb
	else
		usage_error "$1 takes a version, a .deb file or a directory; $2 is none of these"
	fi
	[ -r "$kernel_which" ] || usage_error "$1: cannot read $2"
}

choose_sources() {               # choose_sources OPTION FILE: set kernel_sources
	[[ $2 == *.sources || $2 == *.list ]] || usage_error "$1 takes a file of package sources, *.sources or *.list, not '$2'"
	[ -f "$2" ] && [ -r "$2" ] || usage_error "$1: cannot read $2"
	kernel_sources=$(readlink -e -- "$2")
}

# question: set index to the file of the question of kernel_which and kernel_sources.
question() {
	local name=$host_release-$kernel_which
	case $kernel_kind in
	deb | directory) name=$host_release-path-$(printf %s "$kernel_which" | checksum) ;;
	esac
	[ -z "$kernel_sources" ] || name=$name-$(checksum <"$kernel_sources")
	index=$cache/asked/$name
}

checksum() { sha256sum | cut -c 1-12; }

# read_index FILE: read from the index about a question:
#   index_which    as it was asked        index_entry   the entry that answers it
#   index_before   the entry before that  index_via     the file of sources that was used, if not the host's
#   index_sources  the value of --sources
#   index_files    files that the entry was made from, index_stamp their state then; none for packages
read_index() {
	local word rest
	index_which='' index_sources='' index_entry='' index_before='' index_via='' index_stamp='' index_files=()
	[ -f "$1" ] || return 0
	while read -r word rest; do
		case $word in
		which) index_which=$rest ;;
		sources) index_sources=$rest ;;
		entry) index_entry=$rest ;;
		before) index_before=$rest ;;
		via) index_via=$rest ;;
		stamp) index_stamp=$rest ;;
		file) index_files+=("$rest") ;;
		esac
	done <"$1"
}

# write_index ENTRY VIA [FILE...]: make ENTRY the question's answer. The entry before it is kept, because other labs may be
# starting from it.
write_index() {
	local name=$1 via=$2 before
	shift 2
	read_index "$index"
	before=$index_before
	[ "$index_entry" = "$name" ] || before=$index_entry
	mkdir -p "$cache/asked" || return 1
	{
		printf '%s %s\n' which "$kernel_which" sources "$kernel_sources" entry "$name" before "$before" via "$via"
		[ $# = 0 ] || { printf 'stamp %s\n' "$(state_of "$@" | checksum)" && printf 'file %s\n' "$@"; }
	} >"$index.new" && mv "$index.new" "$index"
}

state_of() {                     # state_of FILE...: a text that changes if one of them changes, appears or is removed
	stat -L -c '%n %s %y %i' -- "$@" 2>/dev/null || true
}

# unchanged: true if the files that the entry was made from have not changed.
unchanged() {
	[ "${#index_files[@]}" = 0 ] || [ "$(state_of "${index_files[@]}" | checksum)" = "$index_stamp" ]
}
