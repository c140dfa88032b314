#!/usr/bin/env bash
# Proves with `cargo tree` that the crates depend on each other in one direction only, as
# ARCHITECTURE.md draws it, that no module is called mod.rs, and that `cargo run` runs the one program meant.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly BELOW_SERVER=(
  roundtable-{table,engine,dynamo,model,model-macros,domain,domain-macros,streams,hooks,media,search}
  roundtable-{execution,graphql,graphql-macros,interface}
)

# all: at any depth. direct: in its own Cargo.toml. Development dependencies do not count.
readonly RULES=(
  # package            | depth  | never                      | except
  "roundtable-table    | all    | roundtable-* heed* aws-*   |"
  "roundtable-engine   | all    | roundtable-* aws-*         | roundtable-table"
  "roundtable-dynamo   | all    | roundtable-* heed*         | roundtable-table"
  "roundtable-model    | all    | roundtable-* heed* aws-*   | roundtable-table roundtable-model-macros"
  "roundtable-planning | all    | roundtable-* heed* aws-*   | roundtable-table roundtable-model roundtable-model-macros"
  "roundtable-domain   | all    | axum* hyper* aws-* heed* tantivy* |"
  "roundtable-streams  | all    | axum* hyper* aws-* heed*   |"
  "roundtable-verify   | all    | axum* hyper* aws-* heed*   |"
  # aws-lc is cryptography, and not AWS's services.
  "roundtable-hooks    | all    | axum* aws-* heed*          | aws-lc-rs aws-lc-sys"
  "roundtable-media    | all    | axum* aws-* heed*          | aws-lc-rs aws-lc-sys"
  "roundtable-search   | all    | axum* hyper* aws-* heed*   |"
  "roundtable-search   | direct | roundtable-*               | roundtable-domain roundtable-model"
  # What interfaces share knows none of them.
  "roundtable-interface | all   | roundtable-graphql* roundtable-execution roundtable-server axum* hyper* aws-* heed* apollo* | aws-lc-rs aws-lc-sys"
  "roundtable-interface | direct | roundtable-*              | roundtable-domain roundtable-model"
  # The API asks services, and knows neither what carries it nor what it stands on.
  "roundtable-graphql  | all    | axum* hyper* aws-* heed*   | aws-lc-rs aws-lc-sys"
  "roundtable-graphql  | direct | roundtable-*               | roundtable-domain roundtable-execution roundtable-graphql-macros roundtable-interface roundtable-model"
  # It executes any schema, and knows nothing of ours.
  "roundtable-execution | all   | roundtable-* axum* hyper* aws-* heed* |"
  # The server opens the store and puts everything together: it may know all but what stands on it.
  "roundtable-server   | all    | roundtable roundtable-*    | ${BELOW_SERVER[*]}"
  # What tests stand on is in nothing that is shipped.
  "roundtable          | all    | roundtable-testkit roundtable-conformance roundtable-test-client roundtable-campaign |"
  # It measures and attacks servers from outside.
  "roundtable-test-client | all | roundtable-*               |"
)

# Names of the packages that `cargo tree` lists with these arguments.
tree_names() {
  cargo tree --locked --target all --all-features --edges normal --prefix none --format '{p}' "$@" |
    awk 'NF { print $1 }' | sort -u
}

# matches NAME PATTERN...
matches() {
  local name=$1 pattern
  shift
  for pattern in "$@"; do
    # shellcheck disable=SC2053 # a glob on purpose
    [[ $name == $pattern ]] && return 0
  done
  return 1
}

members=$(tree_names --workspace --depth 0)
failures=0

for rule in "${RULES[@]}"; do
  IFS='|' read -r package depth never except <<<"$rule"
  read -r package <<<"$package"
  read -r depth <<<"$depth"
  read -ra never <<<"$never"
  read -ra except <<<"$except"

  if ! grep -qxF "$package" <<<"$members"; then
    echo "skipped  $package: no such package yet"
    continue
  fi
  case $depth in
    all) dependencies=$(tree_names --package "$package") ;;
    direct) dependencies=$(tree_names --package "$package" --depth 1) ;;
    *) echo "$0: a rule says depth '$depth'" >&2 && exit 2 ;;
  esac

  wrong=()
  for name in $dependencies; do
    [[ $name == "$package" ]] && continue
    matches "$name" "${never[@]}" && ! matches "$name" "${except[@]}" && wrong+=("$name")
  done
  if ((${#wrong[@]} == 0)); then
    echo "ok       $package ($depth): none of ${never[*]}${except[*]:+ except ${except[*]}}"
  else
    echo "WRONG    $package ($depth) depends on ${wrong[*]}" >&2
    failures=$((failures + 1))
  fi
done

# The plan of the tables is read before there are tables: nothing that runs needs it.
planners=$(tree_names --workspace --invert roundtable-planning --depth 1 | grep -vxE 'roundtable-planning|roundtable' || true)
if [[ -z $planners ]]; then
  echo "ok       roundtable-planning: only the command line depends on it"
else
  echo "WRONG    only the command line may depend on roundtable-planning:" $planners >&2
  failures=$((failures + 1))
fi

# The model hands the table's own types on, to the services. All that the API has of them is an order.
table_uses=$(grep -rn 'roundtable_model::table' crates/{interface,graphql}/src | grep -v 'roundtable_model::table::Order;' || true)
if [[ -z $table_uses ]]; then
  echo "ok       roundtable-interface, roundtable-graphql: nothing of the table but Order"
else
  echo "WRONG    the API asks services, and not the table:" "$table_uses" >&2
  failures=$((failures + 1))
fi

mod_files=$(find crates bench -name mod.rs -not -path '*/target/*')
if [[ -z $mod_files ]]; then
  echo "ok       no mod.rs"
else
  echo "WRONG    use name.rs instead of" $mod_files >&2
  failures=$((failures + 1))
fi

# With several programs to choose from, `cargo run` would refuse.
runs=$(cargo metadata --format-version 1 --no-deps | grep -o '"workspace_default_members":\[[^]]*\]')
if [[ $runs == *'/crates/cli#'* && $runs != *,\"* ]]; then
  echo "ok       cargo run: the command line, and nothing else"
else
  echo "WRONG    cargo run must have one program to run, the command line: $runs" >&2
  failures=$((failures + 1))
fi

((failures == 0))
