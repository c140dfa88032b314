#!/usr/bin/env bash
# Checks the API with popular npm packages, against the binary that the tests use: the audit of GraphQL
# over HTTP, graphql-codegen, Relay, Apollo Client with persisted queries, urql and graphql-ws; lists of allowed
# documents; and the scripts of the console.
#
#   scripts/check-clients.sh
#
# Needs node 20 or later and npm.
set -euo pipefail
cd "$(dirname "$0")/.."

# As a test of the whole workspace: built alone, the binary would lack its optional features, and most of it
# would be compiled once more.
cargo test --workspace --test flows --no-run

target=${CARGO_TARGET_DIR:-target}
ROUNDTABLE=$(realpath "$target/debug/roundtable")
export ROUNDTABLE

cd clients
npm ci --ignore-scripts --no-audit --no-fund
npm test
