# shellcheck shell=bash
# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
#
# Read by lib/fetch: builds the soft-iWARP module, which Debian's kernel leaves out, from Debian's source and headers
# of the very same version, in the cache's temporary directory and with no package installed.

siw_packages() {
	local headers=linux-headers-$kernel_release series
	series=$(printf '%s' "$kernel_version" | cut -d. -f1,2)
	printf '%s=%s\n' "$headers" "$kernel_version" "linux-source-$series" "$kernel_version"
	local name
	for name in $(depends "$headers=$kernel_version" '^linux-(headers|kbuild)-'); do
		case $name in
		linux-headers-*) printf '%s=%s\n' "$name" "$kernel_version" ;;
		*) printf '%s\n' "$name" ;;
		esac
	done
}

# The headers' makefiles name each other by absolute path: point them into where we unpacked them.
relocate_headers() {
	sed -i "s,/usr/src/,$work/root/usr/src/,g" "$work/root/usr/src/linux-headers-$kernel_release/Makefile"
}

build_siw() {
	local build=$work/root/usr/src/linux-headers-$kernel_release source=$1 cc
	cc=$(sed -n 's/^CC *=.*\(gcc-[0-9]*\)$/\1/p' "$build/.kernelvariables" 2>/dev/null)
	command -v "${cc:=gcc}" >/dev/null || cc=gcc
	need "$cc" gcc
	need make make
	make -C "$build" M="$source" CONFIG_RDMA_SIW=m CC="$cc" -j"$(nproc)" modules >"$work/siw.log" 2>&1
}

make_siw() {
	local packages tarball source
	mapfile -t packages < <(siw_packages)
	kernel_release=${kernel_release:?}
	fetch_packages "what soft-iWARP is built from" "${packages[@]}" || return 1
	say "building the siw module"
	relocate_headers
	tarball=$(echo "$work"/root/usr/src/linux-source-*.tar.xz)
	tar -C "$work" --wildcards -xf "$tarball" '*/drivers/infiniband/sw/siw/*' || trouble "cannot unpack the kernel's source"
	source=$(echo "$work"/linux-source-*/drivers/infiniband/sw/siw)
	if ! build_siw "$source" || [ ! -f "$source/siw.ko" ]; then
		tail -n 15 "$work/siw.log" >&2 || true
		trouble "the siw module does not build (see above); lab/run --roce does without"
	fi
	mkdir -p "$work/siw/tree/lab"
	strip --strip-debug -o "$work/siw/tree/lab/siw.ko" "$source/siw.ko"
	archive "$work/siw/tree" >"$work/siw/siw.cpio" || trouble "cannot write the siw module"
	rm -rf "$work/siw/tree"
	publish siw
}
