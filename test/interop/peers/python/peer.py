"""One member or producer of confluent-kafka, run by the interop tests: peer.py COMMAND OPTIONS_AS_JSON.

Writes what happens as one JSON object a line; a line on standard input ends a group member in order.
"""
import json
import sys
import threading

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    NewTopic,
    OffsetSpec,
    ResourceType,
)
from confluent_kafka import ConsumerGroupTopicPartitions

name, options = sys.argv[1], json.loads(sys.argv[2])
common = {"bootstrap.servers": options["brokers"], "client.id": "confluent-kafka", **options.get("settings", {})}


def tell(event, **fields):
    print(json.dumps({"event": event, **fields}), flush=True)


def text(data):
    return None if data is None else data.decode()


def tell_record(message):
    headers = [[key, text(value)] for key, value in message.headers() or []]
    tell(
        "record",
        partition=message.partition(),
        offset=message.offset(),
        key=text(message.key()),
        value=text(message.value()),
        headers=headers,
    )


def produce():
    producer = Producer({**common, "enable.idempotence": True, "compression.type": options["codec"], "linger.ms": 20})

    def delivered(error, message):
        if error:
            tell("failed", error=error.name(), value=text(message.value()))
        else:
            tell("delivered", partition=message.partition(), offset=message.offset(), value=text(message.value()))

    for record in options["records"]:
        producer.produce(
            options["topic"],
            key=record["key"],
            value=record["value"],
            partition=record["partition"],
            headers=[tuple(header) for header in record["headers"]],
            on_delivery=delivered,
        )
    if producer.flush(30) > 0:
        raise RuntimeError("not all records were delivered")


def group():
    ended = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.readline(), ended.set()), daemon=True).start()
    owned = set()
    is_cooperative = options["assignor"] == "cooperative-sticky"
    consumer = Consumer(
        {
            **common,
            "group.id": options["group"],
            "partition.assignment.strategy": options["assignor"],
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "heartbeat.interval.ms": 100,
            "session.timeout.ms": 10000,
            "fetch.wait.max.ms": 50,
        },
    )

    def commit():
        try:
            consumer.commit(asynchronous=False)
        except KafkaException as error:
            if error.args[0].code() != KafkaError._NO_OFFSET:
                raise

    def tell_owned():
        tell("assigned", partitions=[list(pair) for pair in sorted(owned)])

    def assigned(consumer, partitions):
        if is_cooperative:
            consumer.incremental_assign(partitions)
        else:
            consumer.assign(partitions)
        owned.update((p.topic, p.partition) for p in partitions)
        tell_owned()

    def revoked(consumer, partitions):
        commit()
        owned.difference_update((p.topic, p.partition) for p in partitions)
        if is_cooperative:
            consumer.incremental_unassign(partitions)
        else:
            consumer.unassign()
        tell_owned()

    consumer.subscribe([options["topic"]], on_assign=assigned, on_revoke=revoked)
    while not ended.is_set():
        message = consumer.poll(0.05)
        if message is None:
            continue
        if message.error():
            raise KafkaException(message.error())
        tell_record(message)
    commit()
    consumer.close()
    tell("closed")


def admin():
    """Walks through the admin calls and tells what each of them gave."""
    client = AdminClient(common)
    topic, compacted = options["topic"], options["topic"] + "-compacted"

    def each(futures):
        return [future.result(20) for future in futures.values()]

    each(
        client.create_topics(
            [NewTopic(topic, 2, 1), NewTopic(compacted, 1, 1, config={"cleanup.policy": "compact"})],
            request_timeout=20,
        )
    )
    each(client.create_partitions([NewPartitions(topic, 3)]))
    tell("topics", counts={name: len(found.partitions) for name, found in client.list_topics(timeout=20).topics.items()})

    try:
        each(client.create_topics([NewTopic(topic, 1, 1)]))
    except KafkaException as error:
        tell("created twice", error=error.args[0].name())

    # Reads every config, edits one, writes it back, and reads again (as librdkafka's test 0092 does).
    resource = ConfigResource(ResourceType.TOPIC, topic)
    configs = client.describe_configs([resource])[resource].result(20)
    tell("configs", configs={name: [entry.value, entry.source, entry.is_default] for name, entry in configs.items()})
    edit = ConfigEntry("max.message.bytes", "2000", incremental_operation=AlterConfigOpType.SET)
    each(client.incremental_alter_configs([ConfigResource(ResourceType.TOPIC, topic, incremental_configs=[edit])]))
    found = client.describe_configs([resource])[resource].result(20)["max.message.bytes"]
    tell("edited", value=found.value, source=found.source, isDefault=found.is_default)

    outcomes = []
    producer = Producer({**common, "linger.ms": 0, "message.max.bytes": 1000000})

    def send(topic, **message):
        producer.produce(topic, on_delivery=lambda error, _: outcomes.append(error.name() if error else "ok"), **message)
        producer.flush(20)

    send(topic, value=b"x" * 5000, partition=0)
    send(topic, value=b"fits", partition=0, timestamp=1000)
    send(topic, value=b"later", partition=0, timestamp=2000)
    send(topic, value=b"last", partition=0, timestamp=3000)
    send(compacted, value=b"no key")
    send(compacted, key=b"k", value=b"with a key")
    tell("outcomes", outcomes=outcomes)

    consumer = Consumer({**common, "group.id": options["group"], "enable.auto.commit": False})
    times = [TopicPartition(topic, 0, time) for time in (0, 1001, 3000, 3001)]
    offsets = [consumer.offsets_for_times([at], timeout=20)[0].offset for at in times]
    tell("times", offsets=offsets, watermarks=list(consumer.get_watermark_offsets(TopicPartition(topic, 0), timeout=20)))
    specs = {TopicPartition(topic, 0): OffsetSpec.max_timestamp()}
    tell("max timestamp", offset=each(client.list_offsets(specs))[0].offset)

    consumer.commit(offsets=[TopicPartition(topic, 0, 2, metadata="a note")], asynchronous=False)
    committed = consumer.committed([TopicPartition(topic, 0), TopicPartition(topic, 1)], timeout=20)
    tell("committed", committed=[[each_of.offset, each_of.metadata] for each_of in committed])
    consumer.close()
    listed = client.list_consumer_groups().result(20).valid
    tell("groups", groups=[[found.group_id, found.state.name] for found in listed])
    request = ConsumerGroupTopicPartitions(options["group"])
    offsets = each(client.list_consumer_group_offsets([request]))[0].topic_partitions
    tell("group offsets", offsets=[[found.topic, found.partition, found.offset] for found in offsets])

    each(client.delete_records([TopicPartition(topic, 0, 2)]))
    consumer = Consumer({**common, "group.id": options["group"]})
    tell("deleted records", watermarks=list(consumer.get_watermark_offsets(TopicPartition(topic, 0), timeout=20)))
    consumer.close()
    each(client.delete_consumer_groups([options["group"]]))
    each(client.delete_topics([topic, compacted]))
    tell("left", groups=len(client.list_consumer_groups().result(20).valid))


{"produce": produce, "group": group, "admin": admin}[name]()
