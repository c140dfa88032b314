#!/usr/bin/env bash
# Runs a command beside Amazon's DynamoDB Local, in memory, and returns the command's status:
#
#   scripts/dynamodb-local.sh cargo test -p roundtable-conformance --test endpoint
#
# The command finds the server in ROUNDTABLE_DYNAMODB_ENDPOINT. scripts/install-tools.sh installs it.
set -euo pipefail

readonly START_SECONDS_MAX=60
readonly STOP_SECONDS_MAX=10

if (($# == 0)); then
  echo "usage: $0 COMMAND [ARGUMENT]..." >&2
  exit 2
fi

home=$(cd "$(dirname "$0")/.." && pwd)/.tools/dynamodb-local
if [[ ! -f $home/DynamoDBLocal.jar ]]; then
  echo "$0: DynamoDB Local is not installed; run scripts/install-tools.sh" >&2
  exit 2
fi

scratch=$(mktemp -d)
log=$scratch/log
: >"$log"
server=

stop() {
  if [[ -n $server ]]; then
    kill "$server" 2>/dev/null || true
    local deadline=$((SECONDS + STOP_SECONDS_MAX))
    while kill -0 "$server" 2>/dev/null && ((SECONDS < deadline)); do sleep 0.1; done
    kill -KILL "$server" 2>/dev/null || true
    wait "$server" 2>/dev/null || true
  fi
  rm -rf "$scratch"
}
trap stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# Its own command line can only listen on every interface, and reports usage to its maker. So the
# same server is put together here, by the Jetty it brings along: on the loopback interface, on a
# port the kernel picks, without telemetry. The values of the request handler are those of
# `-inMemory -sharedDb`: shared, because clients with other credentials or regions would otherwise
# get other tables. Transactions, streams and expiry need no flag.
cat >"$scratch/server.xml" <<'XML'
<?xml version="1.0"?>
<Configure id="server" class="org.eclipse.jetty.server.Server">
  <Call name="addConnector">
    <Arg>
      <New class="org.eclipse.jetty.server.ServerConnector">
        <Arg><Ref refid="server"/></Arg>
        <Set name="host">127.0.0.1</Set>
        <Set name="port">0</Set>
      </New>
    </Arg>
  </Call>
  <Set name="handler">
    <New class="com.amazonaws.services.dynamodbv2.local.server.LocalDynamoDBServerHandler">
      <Arg>
        <New class="com.amazonaws.services.dynamodbv2.local.server.LocalDynamoDBRequestHandler">
          <Arg type="int">0</Arg>         <!-- as its own command line does -->
          <Arg type="boolean">true</Arg>  <!-- in memory -->
          <Arg/>                          <!-- path of the database: none -->
          <Arg type="boolean">true</Arg>  <!-- one database for all credentials and regions -->
          <Arg type="boolean">false</Arg> <!-- no artificial delay of table states -->
        </New>
      </Arg>
      <Arg type="String">*</Arg>          <!-- cross-origin requests: the default -->
    </New>
  </Set>
</Configure>
XML

java \
  -Djava.library.path="$home/DynamoDBLocal_lib" \
  -Dorg.eclipse.jetty.xml.XmlParser.Validating=false \
  -Dorg.eclipse.jetty.util.log.class=org.eclipse.jetty.util.log.StdErrLog \
  -Dorg.eclipse.jetty.server.LEVEL=INFO \
  -cp "$home/DynamoDBLocal.jar:$home/DynamoDBLocal_lib/*" \
  org.eclipse.jetty.xml.XmlConfiguration "$scratch/server.xml" >"$log" 2>&1 </dev/null &
server=$!

fail() {
  echo "$0: $1; its output begins:" >&2
  head -n 40 "$log" >&2
  exit 1
}

# The port, once the server listens; empty before.
listening_port() {
  sed -n 's/.*Started ServerConnector.*{127\.0\.0\.1:\([0-9]*\)}.*/\1/p' "$log"
}

# Whether it lists its tables: the first request loads the native library, which may fail.
answers() {
  local port=$1 status
  exec 3<>"/dev/tcp/127.0.0.1/$port" || return 1
  printf '%s\r\n' \
    'POST / HTTP/1.0' \
    'Content-Type: application/x-amz-json-1.0' \
    'Content-Length: 2' \
    'X-Amz-Target: DynamoDB_20120810.ListTables' \
    'Authorization: AWS4-HMAC-SHA256 Credential=local/20250101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=none' \
    '' >&3
  printf '{}' >&3
  read -r -t 10 status <&3 || status=
  exec 3>&-
  [[ $status == *" 200 "* ]]
}

deadline=$((SECONDS + START_SECONDS_MAX))
until port=$(listening_port) && [[ -n $port ]] && answers "$port"; do
  kill -0 "$server" 2>/dev/null || fail "DynamoDB Local ended before it answered"
  ((SECONDS < deadline)) || fail "DynamoDB Local did not answer within $START_SECONDS_MAX seconds"
  sleep 0.1
done

export ROUNDTABLE_DYNAMODB_ENDPOINT=http://127.0.0.1:$port
# Not secrets: DynamoDB Local accepts any letters and digits.
export AWS_ACCESS_KEY_ID=local AWS_SECRET_ACCESS_KEY=local AWS_REGION=us-east-1

status=0
"$@" || status=$?
exit "$status"
