#!/usr/bin/env bash
# Installs the servers that `bench load --compare` measures beside ours, and a Node that all of them support:
#
#   scripts/install-compare.sh
#
# Needs npm.
set -euo pipefail
cd "$(dirname "$0")/../bench/compare"
npm ci --ignore-scripts --no-audit --no-fund
