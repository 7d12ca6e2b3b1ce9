# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
"""lab/run --kernel, and steps of filling the cache that fail."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from .conftest import FAILED, TOP, Lab

pytestmark = pytest.mark.long
BACKPORTS = TOP / "lab/sources/bookworm-backports.sources"
OTHER_KEY = Path("/usr/share/keyrings/debian-archive-removed-keys.gpg")
MODULES = """udp_tunnel ip6_udp_tunnel ib_core ib_uverbs ib_cm iw_cm rdma_cm rdma_ucm rdma_rxe crc32_generic crc32c_generic
libcrc32c dummy virtio virtio_pci virtio_ring virtio_console virtio_pci_modern_dev virtio_pci_legacy_dev 9p 9pnet
9pnet_virtio netfs fscache virtio-rng configfs""".split()
HAS_SIW = "ibv_devices | grep siw0"


def package(lab: Lab) -> str:
    """Downloads the package of the default kernel, as kernel.deb. Returns the kernel's release."""
    release = lab.default_kernel()
    version = lab.entry.name.rpartition("_")[2]
    get = ["apt-get", "-qq", "-o", "APT::Sandbox::User=", "download", f"linux-image-{release}={version}"]
    done = subprocess.run(get, cwd=lab.dir, capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"apt: {done.stderr.splitlines()[-1]}")
    next(lab.dir.glob("linux-image-*.deb")).rename(lab.dir / "kernel.deb")
    return release


def directory(lab: Lab) -> tuple[str, Path]:
    """Unpacks the kernel of that package: kernel/bzImage and kernel/lib/modules/RELEASE. Returns the release, and the latter."""
    release = package(lab)
    unpacked, kernel = lab.dir / "unpacked", lab.dir / "kernel"
    subprocess.run(["dpkg", "-x", "kernel.deb", unpacked], cwd=lab.dir, check=True)
    kernel.mkdir()
    next(unpacked.glob("boot/vmlinuz-*")).rename(kernel / "bzImage")
    (unpacked / ("lib" if (unpacked / "lib").exists() else "usr/lib")).rename(kernel / "lib")
    return release, kernel / "lib/modules" / release


def tree(lab: Lab) -> str:
    """A tree as if that kernel had been built in it, with the modules that the lab needs and siw's source, but no siw.ko.
    Returns the release."""
    release, modules = directory(lab)
    top = lab.dir / "tree"
    for name in ("arch/x86/boot", "include/config", "drivers/infiniband/sw/siw"):
        (top / name).mkdir(parents=True)
    (lab.dir / "kernel/bzImage").rename(top / "arch/x86/boot/bzImage")
    (top / "include/config/kernel.release").write_text(release + "\n")
    config = (TOP / "lab/kernel.config").read_text()
    (top / ".config").write_text("".join(re.findall("^CONFIG_.*\n", config, re.MULTILINE)))
    shutil.copy(modules / "modules.builtin", top)
    for path in [path for name in MODULES for path in modules.rglob(f"{name}.ko*")]:
        shutil.copy(path, top)
    subprocess.run(["find", top, "-name", "*.ko.xz", "-exec", "xz", "-d", "{}", "+"], check=True)
    (top / "modules.order").write_text("".join(f"{path.stem}.o\n" for path in sorted(top.glob("*.ko"))))
    (top / "drivers/infiniband/sw/siw/siw_cm.c").write_text("int siw_accept(void);\n")
    return release


def breaks(lab: Lab, program: str, when: str, says: str, *options: str) -> None:
    """The program fails if its arguments contain `when`. The lab shows its message, and its own last line matches."""
    broken = f'case "$*" in *"{when}"*) echo "{program}: it is broken" >&2; exit 1;; esac'
    lab.program(program, f'#!/bin/sh\n{broken}\nexec {{real}} "$@"\n')
    said = lab.run(*options, "--", "true", status=FAILED)
    said.has(r"\| .*: it is broken")
    assert re.match(f"lab: (?:{says})", said.err.splitlines()[-1]), said.err
    assert not lab.cached("tmp.*")
    shutil.rmtree(lab.dir / "fake")


def test_an_unknown_kernel(lab: Lab) -> None:
    """The lab says why it cannot use the kernel, and keeps nothing."""
    lab.no_network()
    lab.empty_cache()
    lab.run("--kernel", "9.99", "--", "true", status=FAILED).has("apt knows no kernel 9.99")
    lab.run("--kernel", str(lab.dir), "--", "true", status=FAILED).has(f"no kernel in {lab.dir}")
    (lab.dir / "bad").mkdir()
    shutil.copy("/bin/busybox", lab.dir / "bad/bzImage")
    lab.run("--kernel", str(lab.dir / "bad"), "--", "true", status=FAILED).has("not a kernel")
    lab.run("--sources", str(BACKPORTS), "--", "true", status=FAILED)
    (lab.dir / "apt.sources").write_text("nonsense\n")
    said = lab.run("--kernel", "9.99", "--sources", "apt.sources", "--", "true", status=FAILED)
    said.has("apt knows no kernel 9.99")
    said.has(r"\| E: ")
    assert not lab.cached("kernels")


def test_a_version(lab: Lab) -> None:
    """A kernel in the cache is also found by its version, even without a network; the default stays what it was."""
    release = lab.default_kernel()
    lab.no_network()
    assert lab.run("--kernel", release, "--", "uname", "-r").out == f"{release}\n"
    listed = lab.run("--list", under=("env", f"LAB_KERNEL={release}")).out
    assert re.search(f"^kernel  *{re.escape(release)} ", listed, re.MULTILINE), listed
    assert {f"--kernel {release}", "--kernel default"} <= {line.strip() for line in listed.splitlines()}
    lab.run("--", "true").silent()


@pytest.mark.skipif(not OTHER_KEY.exists(), reason=f"there is no {OTHER_KEY}")
def test_a_missing_key(lab: Lab) -> None:
    """The keyring has another key: apt refuses the archive, and the lab says which keyring is missing."""
    lab.empty_cache()
    (lab.dir / "other.sources").write_text(re.sub("Signed-By:.*", f"Signed-By: {OTHER_KEY}", BACKPORTS.read_text()))
    said = lab.run("--sources", "other.sources", "--", "true", status=FAILED)
    said.has("key of the archive is missing")
    said.has(r"\| ")


def test_a_package(lab: Lab) -> None:
    """Read once; without siw, whose headers apt does not find; and no longer in the cache when the file has gone."""
    release = package(lab)
    lab.no_network()
    roce = ("--kernel", "./kernel.deb", "--roce", "--")
    assert lab.run("--kernel", "kernel.deb", *roce[2:], "uname", "-r").out == f"{release}\n"
    lab.run(*roce, "true").silent()
    lab.run("--kernel", "kernel.deb", "--", "true", status=FAILED).has(f"no linux-headers-{re.escape(release)}")
    (lab.dir / "kernel.deb").unlink()
    lab.run("--fetch")
    assert not lab.cached("kernels/*path*")
    (lab.dir / "kernel.deb").write_text("nonsense\n")
    lab.run(*roce, "true", status=FAILED).has("cannot unpack .*kernel.deb")


def test_a_directory(lab: Lab) -> None:
    """Read again if a module has changed, and only then; the entry before is kept."""
    release, modules = directory(lab)
    lab.no_network()
    roce = ("--kernel", f"{lab.dir}/kernel", "--roce", "--")
    assert lab.run(*roce, "uname", "-r").out == f"{release}\n"
    lab.run("--roce", "--", "true", under=("env", f"LAB_KERNEL={lab.dir}/kernel")).silent()
    next(modules.rglob("rdma_rxe.ko*")).touch()
    lab.run(*roce, "true").has(f"reading the kernel {re.escape(release)}")
    lab.run(*roce, "true").silent()
    assert len(lab.cached("kernels/*path*")) == 2
    modules.rename(modules.with_name("other"))
    lab.run(*roce, "true", status=FAILED).has(f"of release {re.escape(release)}")


def test_a_tree(lab: Lab) -> None:
    """The tree's source of siw does not compile. If the tree has a module, the lab uses that."""
    release = tree(lab)
    lab.no_network()
    top, own = lab.dir / "tree", ("--kernel", f"{lab.dir}/tree")
    assert lab.run(*own, "--roce", "--", "uname", "-r").out == f"{release}\n"
    said = lab.run(*own, "--", "true", status=FAILED)
    said.has(r"\| ")
    said.has("siw module does not build")
    (top / "drivers/infiniband/sw/siw/siw_cm.c").unlink()
    lab.run(*own, "--", "true", status=FAILED).has("neither siw nor its source")
    take = ["cpio", "-i", "--quiet", "--to-stdout", "lab/siw.ko", "./lab/siw.ko"]
    with (lab.entry / "siw/siw.cpio").open("rb") as archive, (top / "siw.ko").open("wb") as module:
        subprocess.run(take, stdin=archive, stdout=module, check=True)
    with (top / "modules.order").open("a") as order:
        order.write("siw.o\n")
    lab.sh(HAS_SIW, *own)
    assert re.search("^kernel .*siw is the kernel's own", lab.run(*own, "--list").out, re.MULTILINE)
    config = top / ".config"
    config.write_text("".join(line for line in config.read_text().splitlines(True) if "CONFIG_9P_FS" not in line))
    lab.run(*own, "--", "true", status=FAILED).has("lacks CONFIG_9P_FS=m")


def test_siw_of_a_directory(lab: Lab) -> None:
    """The module is built from the source of Debian's kernel of that version."""
    directory(lab)
    own = ("--kernel", f"{lab.dir}/kernel")
    lab.sh(HAS_SIW, *own)
    assert re.search("^kernel .*siw built from Debian's source", lab.run(*own, "--list").out, re.MULTILINE)


def test_programs_that_fail(lab: Lab) -> None:
    """Each step that fills the cache may fail."""
    package(lab)
    kept, own = lab.env["XDG_CACHE_HOME"], ("--kernel", "kernel.deb")
    lab.empty_cache()
    breaks(lab, "apt-get", "", "apt knows no|cannot download")
    lab.env["XDG_CACHE_HOME"] = kept
    breaks(lab, "dpkg", "-x", "cannot unpack .*kernel.deb", *own)
    for program in ("depmod", "modprobe", "cpio"):
        breaks(lab, program, "", "cannot make the initramfs", *own)
    files = subprocess.run(["dpkg", "-c", "kernel.deb"], cwd=lab.dir, capture_output=True, check=True).stdout
    if b".ko.xz\n" in files:
        breaks(lab, "xz", "", "cannot unpack the kernel|cannot make the initramfs", *own)
    lab.program("zstd", "#!/bin/sh\necho 'zstd: it is broken' >&2\nexit 1\n")
    breaks(lab, "xz", "", "cannot unpack the kernel", *own)


def test_programs_that_fail_for_siw(lab: Lab) -> None:
    """Each step that builds the module may fail; without it there still is soft-RoCE."""
    lab.default_kernel()
    shutil.rmtree(lab.entry / "siw")
    breaks(lab, "tar", "linux-source", "cannot unpack the kernel's source")
    breaks(lab, "make", "", "the siw module does not build")
    breaks(lab, "strip", "", "cannot strip the siw module")
    lab.run("--roce", "--", "true")
