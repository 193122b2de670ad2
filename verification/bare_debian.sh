#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the Promtact authors
#
# Proves that a bare Debian 12 is enough: a minimal system with git, make and apt in a chroot, a
# clone of the last commit, then `make setup`, `make build` and the targets given as arguments
# (for example: gates test). A machine that has built before hides a missing package; this does not.
#
#   verification/bare_debian.sh [target ...]
#
# Environment: MIRROR (default: the first http(s) Debian mirror of this machine's apt sources),
# CHROOT (default: a temporary folder that is removed), KEEP=1 keeps it.
# Exits 0 when everything worked, 1 when not, 77 when this machine cannot do it.
set -euo pipefail
repository=$(cd "$(dirname "$0")/.." && pwd)

skip() {
  echo "bare_debian: skipped: $1"
  exit 77
}
[[ $(id -u) == 0 ]] || skip "needs root (chroot and debootstrap)"
command -v debootstrap >/dev/null || skip "needs debootstrap (apt-get install debootstrap)"
unshare --mount true 2>/dev/null || skip "needs CAP_SYS_ADMIN for a mount namespace"

mirror=${MIRROR:-$(cat /etc/apt/sources.list /etc/apt/sources.list.d/*.{list,sources} 2>/dev/null |
  grep -Ev '^\s*#' | grep -Eo 'https?://[^ ]+/debian/?( |$)' | head -n 1 | tr -d ' ' || true)}
[[ -n $mirror ]] || skip "no Debian mirror found in /etc/apt; set MIRROR"

root=${CHROOT:-$(mktemp -d /var/tmp/promtact-bare.XXXXXX)}
# Everything is mounted in a private mount namespace, which ends with its last process: nothing
# below is left mounted whatever happens, and the folder can be removed safely.
cleanup() { [[ -n ${KEEP-} ]] || rm -rf --one-file-system "$root"; }
trap cleanup EXIT

began=$SECONDS
if [[ ! -x $root/usr/bin/apt-get ]]; then
  debootstrap --variant=minbase --include=git,make,ca-certificates bookworm "$root" "$mirror"
fi
echo "deb $mirror bookworm main" >"$root/etc/apt/sources.list"
# Proxies and clock tolerance of this machine's apt, which the chroot shares.
apt-config dump | grep -E '^Acquire::(http|https|Check)' >"$root/etc/apt/apt.conf.d/90host" || true
cp /etc/resolv.conf "$root/etc/resolv.conf"
cp /etc/hosts "$root/etc/hosts"
rm -rf "$root/src"
git clone --quiet --no-local "$repository" "$root/src"
echo "bare_debian: base system and clone after $((SECONDS - began)) s"

cat >"$root/run.sh" <<'INSIDE'
set -euo pipefail
export HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8
cd /src
before=$SECONDS
make setup
echo "bare_debian: make setup took $((SECONDS - before)) s"
before=$SECONDS
make setup
echo "bare_debian: make setup again took $((SECONDS - before)) s"
for target in "$@"; do
  before=$SECONDS
  # shellcheck disable=SC2086 # a target may carry variables: 'build PRESET=pure'
  make $target
  echo "bare_debian: make $target took $((SECONDS - before)) s"
done
INSIDE
if (($# == 0)); then set -- build; fi
# shellcheck disable=SC2016 # expanded by the inner shell
unshare --mount --pid --fork --kill-child --propagation private bash -c '
  set -e
  root=$1
  shift
  mount -t proc proc "$root/proc"
  mount --rbind /sys "$root/sys"
  mount --rbind /dev "$root/dev"
  mount -t tmpfs tmpfs "$root/run"
  exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin TERM="${TERM-dumb}" \
    chroot "$root" /bin/bash /run.sh "$@"
' bare "$root" "$@"
echo "bare_debian: passed in $((SECONDS - began)) s"
