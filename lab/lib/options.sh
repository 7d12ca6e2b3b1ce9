# shellcheck shell=bash
# SPDX-License-Identifier: Linux-OpenIB OR GPL-2.0-only
#
# The command line of lab/run: parse_options sets one variable for each option, checks each value, and separates the
# commands.

help() {
	cat <<'EOF'
usage: lab/run [options] -- COMMAND [ARGUMENT...]
       lab/run --hosts 2 [options] -- COMMAND_1... ::: COMMAND_2...

Boots a virtual machine whose kernel has soft-RoCE (rxe0) and soft-iWARP (siw0), and runs COMMAND there as root. The
guest sees this machine's files and starts in this directory. lab/run exits with COMMAND's status. It needs no root.

  --roce, --iwarp     make only this RDMA device (default: both)
  --hosts N           1 (default) or 2 machines on a private link; the command of the second follows ":::"
  --loss PERCENT      with --hosts 2: drop this share of the packets, in each direction
  --delay MS          with --hosts 2: delay each packet by this time, in each direction
  --capture FILE      with --hosts 2: write the link's packets, as host 1 sees them, in pcap format
  --no-prefix         with --hosts 2: do not start each line with "1| " or "2| "
  --timeout SECONDS   stop the machine after this time and exit with status 124
  --cpus N            processors of the guest (default: 2, or 1 if the host has only 1)
  --memory MB         memory of the guest (default: 1024)
  --writable DIR      directory that the guest may write to (repeatable; default: the top of the git tree, or this
                      directory)
  --env NAME[=VALUE]  an environment variable to pass on, or to set (repeatable)
  --arch ARCH         the guest's processor: amd64 or arm64 (default: LAB_ARCH, or this machine's). One of another kind has
                      Debian's packages of lab/packages-guest.txt in place of this machine's files
  --kernel WHICH      the guest's kernel (default: LAB_KERNEL, or the default of this Debian release): a version that
                      apt knows, such as 6.12 or 6.1.0-56-amd64; a .deb file; a directory in which a kernel was built;
                      or a directory with a bzImage and lib/modules/RELEASE
  --sources FILE      package sources (*.sources or *.list) that have the kernel (default: LAB_SOURCES, or this
                      machine's)
  -i, --stdin         pass standard input to the command (default: /dev/null); one host only
  --console FILE      write the guest's console, with its kernel log, to FILE
  --list              print the accelerator, kernel, drivers and cache that would be used, and the kernels in the cache
  --fetch             only download the newest kernel, or that of --kernel, into the cache; with --roce, without the
                      soft-iWARP driver
  -q, --quiet         no progress messages
  -v, --verbose       more messages, such as how long the boot took
  -h, --help          print this text

Exit status: that of COMMAND (of two commands, the first that is not 0); 128+N if COMMAND was killed by signal N; 124
after --timeout; 125 if the lab itself failed; 2 for wrong usage. LAB_ACCEL=tcg or kvm selects emulation or KVM.
EOF
}

defaults() {
	cpus=$(nproc 2>/dev/null || echo 1)
	[ "$cpus" -lt 2 ] || cpus=2
	memory=1024 timeout=0 hosts=1 want_roce=1 want_iwarp=1 only='' prefixed=1 stdin=0 tty=0 listing=0 fetching=0
	console='' capture='' loss='' delay='' netem='' cwd=$PWD writable=() env_pairs=() command1=() command2=()
	kernel_sources='' kernel_kind='' kernel_which=''
}

number() {                       # number OPTION VALUE LOWEST HIGHEST
	[[ $2 =~ ^[0-9]{1,7}$ ]] && [ "$((10#$2))" -ge "$3" ] && [ "$((10#$2))" -le "$4" ] ||
		usage_error "$1 takes a number from $3 to $4, not '$2'"
}

decimal() {                      # decimal OPTION VALUE HIGHEST
	[[ $2 =~ ^[0-9]{1,5}(\.[0-9]{1,6})?$ ]] && [ "$((10#${2%%.*}))" -le "$3" ] ||
		usage_error "$1 takes a number from 0 to $3, not '$2'"
}

output_file() {                  # output_file OPTION FILE: an absolute path; the file is opened now, not after the run
	local file=$2
	[[ $file == /* ]] || file=$PWD/$file
	{ : >>"$file"; } 2>/dev/null || usage_error "$1: cannot write $2"
	REPLY=$file
}

choose() {                       # --roce and --iwarp exclude each other
	[ -z "$only" ] || [ "$only" = "$1" ] || usage_error "--roce and --iwarp exclude each other (the default is both)"
	only=$1
}

take_env() {
	[[ ${1%%=*} =~ ^[A-Za-z_][A-Za-z0-9_]*$ ]] || usage_error "--env takes NAME or NAME=VALUE, not '$1'"
	if [[ $1 == *=* ]]; then
		env_pairs+=("$1")
	elif [ -n "${!1+set}" ]; then
		env_pairs+=("$1=${!1}")
	fi
}

take_writable() {
	local dir
	dir=$(cd -- "$1" 2>/dev/null && pwd -P) || usage_error "--writable: no directory $1"
	writable+=("$dir")
}

# option_with_value NAME VALUE: false if there is no such option.
option_with_value() {
	case $1 in
	--cpus) number "$1" "$2" 1 64; cpus=$((10#$2)) ;;
	--memory) number "$1" "$2" 256 1048576; memory=$((10#$2)) ;;
	--timeout) number "$1" "$2" 1 1000000; timeout=$((10#$2)) ;;
	--hosts) number "$1" "$2" 1 2; hosts=$((10#$2)) ;;
	--loss) decimal "$1" "$2" 100; loss=$2 ;;
	--delay) decimal "$1" "$2" 60000; delay=$2 ;;
	--capture) output_file "$1" "$2"; capture=$REPLY ;;
	--console) output_file "$1" "$2"; console=$REPLY ;;
	--writable) take_writable "$2" ;;
	--env) take_env "$2" ;;
	--arch) choose_arch "$2" usage_error ;;
	--kernel) choose_kernel "$1" "$2" ;;
	--sources) choose_sources "$1" "$2" ;;
	*) return 1 ;;
	esac
}

plain_option() {
	case $1 in
	--roce) choose roce; want_iwarp=0 ;;
	--iwarp) choose iwarp; want_roce=0 ;;
	--no-prefix) prefixed=0 ;;
	--list) listing=1 ;;
	--fetch) fetching=1 ;;
	--terminal) tty=1 ;;             # lab/shell uses this option
	-i | --stdin) stdin=1 ;;
	-q | --quiet) quiet=1 ;;
	-v | --verbose) verbose=1 ;;
	-h | --help) help; exit 0 ;;
	*) usage_error "no such option: $1" ;;
	esac
}

parse_options() {
	defaults
	while [ $# -gt 0 ]; do
		case $1 in
		--) shift; break ;;
		--cpus | --memory | --timeout | --hosts | --loss | --delay | --capture | --console | --writable | --env | \
			--arch | --kernel | --sources)
			[ $# -ge 2 ] || usage_error "$1 needs a value"
			option_with_value "$1" "$2"
			shift 2
			;;
		--*=*) option_with_value "${1%%=*}" "${1#*=}" || usage_error "no such option: ${1%%=*}"; shift ;;
		-*) plain_option "$1"; shift ;;
		*) break ;;
		esac
	done
	[ -n "$kernel_kind" ] || choose_kernel LAB_KERNEL "${LAB_KERNEL:-}"
	[ -n "$kernel_sources" ] || [ -z "${LAB_SOURCES:-}" ] || choose_sources LAB_SOURCES "$LAB_SOURCES"
	split_commands "$@"
	check_combination
	choose_shares
}

split_commands() {
	local second=0 word
	for word in "$@"; do
		if [ "$hosts" = 2 ] && [ "$word" = ::: ] && [ $second = 0 ]; then
			second=1
		elif [ $second = 0 ]; then
			command1+=("$word")
		else
			command2+=("$word")
		fi
	done
}

check_combination() {
	if [ "$((listing + fetching))" -gt 0 ]; then
		[ "${#command1[@]}" = 0 ] || usage_error "--list and --fetch take no command"
		return
	fi
	[ "${#command1[@]}" -gt 0 ] || usage_error "no command was given"
	[ "$hosts" = 1 ] || [ "${#command2[@]}" -gt 0 ] || usage_error "--hosts 2 takes two commands with ::: between them"
	if [ "$hosts" = 1 ] && [ -n "$loss$delay$capture" ]; then
		usage_error "--loss, --delay and --capture need two hosts: add --hosts 2"
	fi
	[ "$hosts" = 1 ] || [ "$((stdin + tty))" = 0 ] || usage_error "--stdin and lab/shell work with one host only"
	[ -z "$delay" ] || netem="delay ${delay}ms"
	[ -z "$loss" ] || netem="$netem loss $loss%"
}

# shares: a line "rw DIR" or "ro DIR" for each directory. By default the top of the git tree, or this directory if
# there is none, is writable. If --writable names others, it is shared read-only: this matters if it is below /tmp or the
# like, where the guest's own directory would hide it.
choose_shares() {
	local top dir
	cwd=$(pwd -P) top=$(pwd -P) shares=()
	while [ "$top" != / ] && [ ! -e "$top/.git" ]; do top=$(dirname "$top"); done
	[ "$top" != / ] || top=$cwd
	if [ "${#writable[@]}" = 0 ] && [ "$top" != / ]; then
		writable=("$top")
	else
		case $cwd/ in
		/tmp/?* | /var/tmp/?* | /run/?* | /dev/shm/?*) shares=("ro $top") ;;
		*) [ "$foreign" = 0 ] || shares=("ro $top") ;;
		esac
	fi
	for dir in ${writable[@]+"${writable[@]}"}; do
		[[ $dir != *$'\n'* ]] || usage_error "a directory with a line feed in its name cannot be shared"
		[ "$dir" != / ] || usage_error "the root cannot be made writable"
		shares+=("rw $dir")
	done
}
