#!/usr/bin/env bash
# Installs into .tools/ what .ci/run needs beyond Rust and a C compiler: cargo-deny, the advisories it
# checks, and Amazon's DynamoDB Local with a Java to run it. Running it again does nothing.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly CARGO_DENY_VERSION=0.20.2
# Everything in RustSec's advisory database on that day, in one commit.
readonly ADVISORIES=scripts/advisory-db-2026-08-21.bundle
# The place at which cargo-deny looks for the database of that name.
readonly ADVISORY_DB=.tools/advisory-dbs/advisory-db-3157b0e258782691
# The npm package that carries DynamoDB Local 1.25.1 and its native SQLite.
readonly SIMULATOR_PACKAGE=amplify-dynamodb-simulator
readonly SIMULATOR_VERSION=2.9.30

tools=$PWD/.tools
mkdir -p "$tools"

has_cargo_deny() {
  [[ -x $tools/bin/cargo-deny ]] &&
    [[ $("$tools/bin/cargo-deny" --version) == "cargo-deny $CARGO_DENY_VERSION" ]]
}

# An unoptimised build: it takes a minute rather than many, and checks our graph in seconds.
install_cargo_deny() {
  CARGO_PROFILE_DEV_DEBUG=0 CARGO_PROFILE_DEV_INCREMENTAL=false \
    cargo install --quiet --locked --debug --no-default-features --root "$tools" \
    cargo-deny --version "$CARGO_DENY_VERSION"
}

has_advisories() {
  [[ $(git -C "$ADVISORY_DB" rev-parse HEAD 2>/dev/null) == "$(advisories_commit)" ]] &&
    [[ -f $ADVISORY_DB/.git/FETCH_HEAD ]]
}

advisories_commit() {
  git bundle list-heads "$ADVISORIES" HEAD | cut -d' ' -f1
}

install_advisories() {
  rm -rf "$ADVISORY_DB"
  git -c init.defaultBranch=main clone --quiet "$ADVISORIES" "$ADVISORY_DB"
  # cargo-deny reads the time of the last fetch.
  git -C "$ADVISORY_DB" fetch --quiet
}

has_dynamodb_local() {
  [[ -f $tools/dynamodb-local/DynamoDBLocal.jar ]] &&
    [[ $(cat "$tools/dynamodb-local/package-version" 2>/dev/null) == "$SIMULATOR_VERSION" ]]
}

# Packing, unlike installing, runs no script of the package and brings none of its dependencies.
install_dynamodb_local() {
  local unpacked=$tools/dynamodb-local.unpacked
  rm -rf "$unpacked" "$tools/dynamodb-local"
  mkdir "$unpacked"
  npm pack --silent --pack-destination "$unpacked" "$SIMULATOR_PACKAGE@$SIMULATOR_VERSION" >/dev/null
  tar -xzf "$unpacked/$SIMULATOR_PACKAGE-$SIMULATOR_VERSION.tgz" -C "$unpacked"
  echo "$SIMULATOR_VERSION" >"$unpacked/package/emulator/package-version"
  mv "$unpacked/package/emulator" "$tools/dynamodb-local"
  rm -rf "$unpacked"
}

install_java() {
  local sudo=()
  ((EUID == 0)) || sudo=(sudo)
  "${sudo[@]}" apt-get update -qq
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y default-jre-headless >/dev/null
}

# ensure NAME CHECK INSTALL: installs unless the check passes, then checks again.
ensure() {
  local name=$1 check=$2 install=$3
  if $check; then
    echo "$name: present"
    return
  fi
  echo "$name: installing"
  $install
  $check || { echo "$name: installed, but does not work" >&2; exit 1; }
}

has_java() { java -version >/dev/null 2>&1; }

ensure "cargo-deny $CARGO_DENY_VERSION" has_cargo_deny install_cargo_deny
ensure "advisories ($ADVISORIES)" has_advisories install_advisories
ensure "DynamoDB Local ($SIMULATOR_PACKAGE $SIMULATOR_VERSION)" has_dynamodb_local install_dynamodb_local
ensure "Java" has_java install_java
