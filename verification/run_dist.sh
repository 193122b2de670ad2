#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the Promtact authors
#
# A source archive of HEAD in dist/, with its checksum. Refuses a tree with changes: an archive is
# of a commit. The same commit gives the same bytes.
set -euo pipefail
cd "$(dirname "$0")/.."
if [[ -n $(git status --porcelain) ]]; then
  echo "dist: the tree has changes; commit them first (git status)" >&2
  exit 1
fi
version=$(sed -n 's/^project(promtact VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
name=promtact-$version-$(git rev-parse --short=12 HEAD)
mkdir -p dist
git archive --format=tar --prefix="$name/" HEAD | gzip -9n >"dist/$name.tar.gz"
(cd dist && sha256sum "$name.tar.gz" | tee "$name.tar.gz.sha256")
