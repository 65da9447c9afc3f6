#!/bin/bash
# A real Apache Kafka (KRaft) on loopback, from the jars on Maven Central: what ottla is compared with.
#   kafka.sh up [N]                       start a cluster of N nodes (default 1); prints its bootstrap servers
#   kafka.sh down                         stop it and delete its data
#   kafka.sh kill I | stop I | start I    kill -9 node I, stop it cleanly, start it again on its data
#   kafka.sh pause I | resume I           SIGSTOP and SIGCONT
#   kafka.sh tool CLASS ARGS              run one of Kafka's own tools, e.g. TopicCommand, ConsoleConsumer, DumpLogSegments
#   kafka.sh classpath                    fetch the jars and print their class path
# Settings by environment: KAFKA_DIR (one cluster's data, default .kafka/cluster in the project), KAFKA_LIBS (the jars, default
# .kafka/lib-VERSION), KAFKA_PORT (default 19092; node I listens on port + 10 * (I - 1), its controller one above), KAFKA_VERSION
# (default 4.4.0), KAFKA_JAVA (options of a node's JVM), KAFKA_EXTRA (more lines of server.properties).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
home=$(dirname "$here")/.kafka
version=${KAFKA_VERSION:-4.4.0} port=${KAFKA_PORT:-19092}
dir=${KAFKA_DIR:-$home/cluster} libs=${KAFKA_LIBS:-$home/lib-$version}
node_java=${KAFKA_JAVA:--Xmx512m -XX:+UseSerialGC -XX:TieredStopAtLevel=1}

jars() { # several callers at once: one fetches, the others wait
  [ -e "$libs/.done" ] && return
  mkdir -p "$libs"
  (
    flock 9
    [ -e "$libs/.done" ] && exit 0
    mvn -q -B -f "$here/kafka-pom.xml" -Dkafka="$version" dependency:copy-dependencies -DoutputDirectory="$libs" >&2
    touch "$libs/.done"
  ) 9>"$libs.lock"
}

run() { java -Xmx512m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp "$libs/*" "$@"; }
listening() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }
port_of() { echo $((port + 10 * ($1 - 1))); }
uuid() { echo "A$(head -c 16 /dev/urandom | base64 | tr '+/' '-_' | cut -c2-21)A"; } # Kafka's form: 16 bytes in base64url

config() { # node, number of nodes
  local own controllers='' i rf=$(($2 < 3 ? $2 : 3))
  own=$(port_of "$1")
  for i in $(seq "$2"); do controllers+="127.0.0.1:$(($(port_of "$i") + 1)),"; done
  cat <<P
process.roles=broker,controller
node.id=$1
controller.quorum.bootstrap.servers=${controllers%,}
listeners=PLAINTEXT://127.0.0.1:$own,CONTROLLER://127.0.0.1:$((own + 1))
advertised.listeners=PLAINTEXT://127.0.0.1:$own,CONTROLLER://127.0.0.1:$((own + 1))
controller.listener.names=CONTROLLER
log.dirs=$dir/data-$1
num.partitions=1
default.replication.factor=$rf
min.insync.replicas=$((rf > 1 ? 2 : 1))
offsets.topic.num.partitions=8
offsets.topic.replication.factor=$rf
transaction.state.log.num.partitions=8
transaction.state.log.replication.factor=$rf
transaction.state.log.min.isr=$((rf > 1 ? 2 : 1))
share.coordinator.state.topic.num.partitions=4
share.coordinator.state.topic.replication.factor=$rf
share.coordinator.state.topic.min.isr=$((rf > 1 ? 2 : 1))
broker.session.timeout.ms=5000
broker.heartbeat.interval.ms=500
group.initial.rebalance.delay.ms=0
group.min.session.timeout.ms=1000
group.consumer.min.session.timeout.ms=1000
group.consumer.session.timeout.ms=45000
group.consumer.min.heartbeat.interval.ms=100
${KAFKA_EXTRA:-}
P
}

start() { # node
  local own pid
  own=$(port_of "$1")
  # shellcheck disable=SC2086 # the options are several words
  setsid java $node_java -cp "$libs/*" kafka.Kafka "$dir/node-$1.properties" >>"$dir/node-$1.log" 2>&1 </dev/null &
  pid=$!
  echo "$pid" >"$dir/node-$1.pid"
  for _ in $(seq 600); do
    listening "$own" && return
    gone "$pid" && break
    sleep 0.2
  done
  echo "node $1 does not listen on $own; the end of $dir/node-$1.log:" >&2
  tail -n 20 "$dir/node-$1.log" >&2
  exit 1
}

gone() { # pid; a zombie counts as gone
  ! kill -0 "$1" 2>/dev/null || grep -q '^State:[[:space:]]*Z' "/proc/$1/status" 2>/dev/null
}

end() { # node, signal; returns when the process is gone, and its port is free (threads outlive the killed leader a moment)
  local pid
  [ -e "$dir/node-$1.pid" ] || { echo "node $1 does not run" >&2; exit 1; }
  pid=$(cat "$dir/node-$1.pid")
  rm -f "$dir/node-$1.pid"
  kill "-$2" "$pid" 2>/dev/null || true
  for _ in $(seq 1200); do gone "$pid" && ! listening "$(port_of "$1")" && return; sleep 0.05; done
  echo "node $1 (pid $pid) does not end" >&2
  exit 1
}

up() { # number of nodes
  local n=$1 id voters='' servers='' i registered jobs=()
  mkdir -p "$dir"
  id=$(uuid)
  for i in $(seq "$n"); do voters+="$i@127.0.0.1:$(($(port_of "$i") + 1)):$(uuid),"; done
  for i in $(seq "$n"); do
    config "$i" "$n" >"$dir/node-$i.properties"
    rm -rf "$dir/data-$i" "$dir/node-$i.log"
    run kafka.tools.StorageTool format -t "$id" --initial-controllers "${voters%,}" -c "$dir/node-$i.properties" >"$dir/format-$i.log" 2>&1 ||
      { cat "$dir/format-$i.log" >&2; exit 1; }
    servers+="127.0.0.1:$(port_of "$i"),"
  done
  for i in $(seq "$n"); do start "$i" & jobs+=($!); done
  for i in "${jobs[@]}"; do wait "$i"; done
  # A listening socket is not yet a cluster: wait until every broker is registered.
  for _ in $(seq 60); do
    registered=$(run org.apache.kafka.tools.BrokerApiVersionsCommand --bootstrap-server "${servers%%,*}" 2>/dev/null | grep -c 'id: ' || true)
    [ "$registered" -ge "$n" ] && { echo "${servers%,}"; return; }
    sleep 0.3
  done
  echo "only $registered of $n brokers are registered; see $dir/node-*.log" >&2
  exit 1
}

down() {
  local file
  for file in "$dir"/node-*.pid; do
    [ -e "$file" ] || continue
    file=${file##*/node-}
    end "${file%.pid}" KILL
  done
  rm -rf "$dir"/data-*
}

class_of() { # TopicCommand -> its full name, found in the jar of the tools
  unzip -Z1 "$libs/kafka-tools-$version.jar" | grep "/$1\.class" | head -1 | sed 's/\.class$//; s#/#.#g'
}

tool() { # class, arguments
  local class=$1
  shift
  case $class in *.*) ;; *) class=$(class_of "$class") ;; esac
  exec java -Xmx512m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp "$libs/*" "$class" "$@" 2> >(grep -v SLF4J >&2)
}

case ${1:-} in
  up) jars; up "${2:-1}" ;;
  down) down ;;
  kill) end "$2" KILL ;;
  stop) end "$2" TERM ;;
  start) jars; start "$2" ;;
  pause) kill -STOP "$(cat "$dir/node-$2.pid")" ;;
  resume) kill -CONT "$(cat "$dir/node-$2.pid")" ;;
  tool) jars; shift; tool "$@" ;;
  classpath) jars; echo "$libs/*" ;;
  *) sed -n '2,12p' "$0" >&2; exit 2 ;;
esac
