# shellcheck shell=bash
# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
#
# The root of a guest whose processor is not this machine's: Debian's packages of lab/packages-guest.txt, of this machine's
# release, unpacked into the cache; no program of them has been run. It is <cache>/root/<release>-<checksum of the list>.

root_directory() { printf '%s/root/%s-%s' "$cache" "$host_release" "$(sha256sum <"$lab_dir/packages-guest.txt" | cut -c 1-12)"; }

root_ready() { [ "$foreign" = 0 ] || [ -d "$(root_directory)" ]; }

# use_root: set guest_root, and make the directories in it at which the shares are mounted.
use_root() {
	local share
	guest_root=$(root_directory)
	for share in ${shares[@]+"${shares[@]}"}; do
		mkdir -p "$guest_root${share#* }" || die "cannot write to the cache $cache"
	done
}

# root_packages: print PACKAGE=VERSION of the list and of all that it depends on, as if nothing were installed.
root_packages() {
	local names
	mapfile -t names < <(sed -e 's/#.*//' -e 's/[[:space:]]//g' -e '/^$/d' "$lab_dir/packages-guest.txt")
	: >"$work/status"
	LC_ALL=C apt-get "${apt_options[@]}" -o Dir::State::status="$work/status" --simulate --no-install-recommends \
		install "${names[@]}" 2>"$work/log" | sed -n 's/^Inst \([^ ]*\) (\([^ ]*\) .*/\1=\2/p'
}

# obtain_root: unpack the root. Returns 1 if something could not be downloaded.
obtain_root() {
	local packages deb dir
	use_own_lists
	refresh_lists
	mapfile -t packages < <(root_packages)
	[ "${#packages[@]}" != 0 ] || return 1
	mkdir -p "$work/guest/usr" "$work/debs"
	for dir in bin lib sbin; do
		mkdir "$work/guest/usr/$dir"
		ln -s "usr/$dir" "$work/guest/$dir"
	done
	say "fetching the root of a guest of $arch_suffix: $(apt_size "${packages[@]}") MB"
	(cd "$work/debs" && logged apt-get "${apt_options[@]}" -qq download "${packages[@]}") || return 1
	for deb in "$work"/debs/*.deb; do
		dpkg-deb --fsys-tarfile "$deb" | logged tar -x -C "$work/guest" --keep-directory-symlink --no-same-owner ||
			trouble "cannot unpack ${deb##*/}"
	done
	settle_root "$work/guest"
	guest_root=$(root_directory)
	mkdir -p "$cache/root" && rm -rf "${cache:?}"/root/* && mv "$work/guest" "$guest_root" || trouble "cannot write the cache"
	rm -rf "$work/debs"
}

# settle_root DIR: do what the packages' own scripts would have done.
settle_root() {
	local name
	for name in passwd group; do
		cp "$1/usr/share/base-passwd/$name.master" "$1/etc/$name"
	done
	ln -sf gawk "$1/usr/bin/awk"
	mkdir -p "$1/dev" "$1/proc" "$1/sys" "$1/tmp" "$1/run"
}
