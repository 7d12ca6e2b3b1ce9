# shellcheck shell=bash
# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
#
# Read by lib/fetch: asks apt, as an ordinary user, which kernels there are, and downloads packages. If the machine's
# package lists lack what the lab needs, it keeps lists of its own in the cache. apt always checks signatures.
# find_kernel sets kernel_package, kernel_version and kernel_release.

apt_base=(-o APT::Sandbox::User= -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= -o Acquire::Retries=1
	-o Acquire::http::Timeout=20 -o Acquire::https::Timeout=20)
own_arch=''                      # suffix of packages that run on this machine, if the guest has another architecture
if [ "$foreign" = 1 ]; then
	own_arch=:$(dpkg --print-architecture)
	apt_base+=(-o APT::Architecture="$arch_suffix" -o APT::Architectures="$arch_suffix,${own_arch#:}")
fi
apt_options=("${apt_base[@]}")
fresh=0                          # 1 if this run has fetched the lists that apt_options names

apt_query() { LC_ALL=C apt-cache "${apt_options[@]}" "$@" 2>/dev/null; }

candidate() { apt_query policy "$1" | sed -n 's/^ *Candidate: //p' | grep -v '(none)'; }

# depends PATTERN PACKAGE=VERSION...: print those of their dependencies that match.
depends() {
	apt_query show "${@:2}" | sed -n 's/^\(Pre-\)\{0,1\}Depends: //p' | sed 's/[,|]/\n/g' | sed 's/^ *//; s/[ (:].*//' |
		grep -E "$1" | sort -u
}

find_kernel() {
	local found behind
	if [ "$kernel_kind" = default ]; then
		kernel_package=linux-image-$arch_suffix
		kernel_version=$(candidate "$kernel_package") || return 1
	else
		found=$(known_kernels | pick_kernel "$kernel_which") && [ -n "$found" ] || return 1
		kernel_package=linux-image-${found% *} kernel_version=${found#* }
	fi
	# A package without a kernel, which depends on the newest kernel of its series.
	behind=$(depends '^linux-image-[0-9]' "$kernel_package=$kernel_version" | head -n 1) || true
	if [ -n "$behind" ]; then
		kernel_package=$behind
		kernel_version=$(candidate "$behind") || return 1
	fi
	kernel_release=${kernel_package#linux-image-}
	kernel_release=${kernel_release%-unsigned}
}

# known_kernels: "RELEASE VERSION" of each kernel that apt knows.
known_kernels() {
	local names
	mapfile -t names < <(apt_query pkgnames linux-image- | grep -E "^linux-image-[0-9].*-$arch_suffix\$")
	[ "${#names[@]}" = 0 ] ||
		apt_query madison "${names[@]}" | sed -n 's/^ *linux-image-\([^ ]*\) *| *\([^ ]*\) *|.*/\1 \2/p'
}

# pick_kernel WHICH: print the line of known_kernels whose release or version is WHICH. If there is none, print the newest that
# begins with WHICH, which must not end within a number, and that is no special kernel (real-time, cloud).
pick_kernel() {
	awk -v want="$1" '
		function begins(s) {
			return index(s, want) == 1 && (want !~ /[0-9]$/ || substr(s, length(want) + 1, 1) !~ /[0-9]/)
		}
		$1 == want { same = same $0 "\n" }
		/^[^ ]*-(rt|cloud)-/ { next }
		$2 == want { same_version = same_version $0 "\n" }
		begins($1) || begins($2) { similar = similar $0 "\n" }
		END { printf "%s", same ? same : same_version ? same_version : similar }' | sort -k 2,2V | tail -n 1
}

# use_lists NAME OPTION...: use package lists of the lab's own from now on. refresh_lists updates them.
use_lists() {
	local dir=$cache/apt/$1
	shift
	mkdir -p "$dir/lists/partial" "$dir/cache/archives/partial" || trouble "cannot write the cache"
	apt_options=("${apt_base[@]}" -o "Dir::State::lists=$dir/lists" -o "Dir::Cache=$dir/cache"
		-o Acquire::Languages=none "$@")
	fresh=0
}

use_own_lists() {
	via=
	use_lists "$host_release"
}

use_sources() {                  # use_sources FILE: use it in place of the machine's sources
	via=$1
	use_lists "$(checksum <"$1")" -o "Dir::Etc::sourcelist=$1" -o Dir::Etc::sourceparts=/dev/null
}

refresh_lists() {
	fresh=1
	say "refreshing the package lists in the lab's own cache${via:+ (from $via)}"
	logged apt-get "${apt_options[@]}" -qq update || true
	if grep -qE 'NO_PUBKEY|Missing key|no public key' "$work/log"; then
		trouble "a key of the archive is missing here: install a newer debian-archive-keyring (of that release)"
	fi
}

# shipped_sources: set files to those of lab/sources: first this release's backports, then the other releases.
shipped_sources() {
	local file=$lab_dir/sources/$host_release-backports.sources
	files=()
	[ ! -f "$file" ] || files=("$file")
	for file in "$lab_dir"/sources/*.sources; do
		[[ $file == */"$host_release"* ]] || files+=("$file")
	done
}

# search TEST...: true as soon as TEST succeeds. It is tried with apt's lists as they are, then with fresh ones, and then,
# unless the default kernel is wanted, with the sources in lab/sources. With --sources only that file is used.
search() {
	local file files
	if [ -n "$kernel_sources" ]; then
		use_sources "$kernel_sources"
		refresh_lists
		"$@"
		return
	fi
	"$@" && return
	use_own_lists
	refresh_lists
	"$@" && return
	[ "$kernel_kind" != default ] || return 1
	shipped_sources
	for file in "${files[@]}"; do
		say "the package sources of this machine do not have it; trying lab/sources/${file##*/}"
		use_sources "$file"
		refresh_lists
		"$@" && return
	done
	return 1
}

# apt_size PACKAGE=VERSION...: print how many MB have to be downloaded.
apt_size() {
	apt_query show "$@" | sed -n 's/^Size: //p' | awk '{ s += $1 } END { printf "%d", s / 1e6 + 0.5 }'
}

# fetch_packages WHAT PACKAGE=VERSION...: download and unpack into $work/root. False if one cannot be downloaded.
fetch_packages() {
	local what=$1 deb
	shift
	say "fetching $what: $(apt_size "$@") MB"
	rm -rf "$work/debs"
	mkdir -p "$work/debs" "$work/root"
	(cd "$work/debs" && logged apt-get "${apt_options[@]}" -qq download "$@") || return 1
	for deb in "$work"/debs/*.deb; do
		logged dpkg -x "$deb" "$work/root" || trouble "cannot unpack ${deb##*/}"
	done
	rm -rf "$work/debs"
}
