// Kafka's own Java client, run by the interop tests: Peer COMMAND BROKERS name=value ... . Writes what happens as one JSON object a
// line; a line on standard input ends a group member in order.
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

public final class Peer {
    private static final Map<String, String> options = new HashMap<>();
    private static final Map<String, Object> settings = new HashMap<>();

    public static void main(String[] words) throws Exception {
        settings.put("bootstrap.servers", words[1]);
        settings.put("client.id", "java");
        for (int i = 2; i < words.length; i++) {
            int at = words[i].indexOf('=');
            String name = words[i].substring(0, at);
            (name.contains(".") ? settings : (Map) options).put(name, words[i].substring(at + 1));
        }
        switch (words[0]) {
            case "produce" -> produce();
            case "group" -> group();
            case "consume" -> consume();
            default -> throw new IllegalArgumentException(words[0]);
        }
    }

    /** Records come as lines on standard input: key, value, partition and one header's value, with tabs between. */
    private static void produce() throws Exception {
        settings.put("compression.type", options.get("codec"));
        settings.put("linger.ms", 20);
        try (var producer = new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer());
                var lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                String[] parts = line.split("\t", -1);
                var record = new ProducerRecord<>(options.get("topic"), Integer.valueOf(parts[2]), parts[0], parts[1]);
                record.headers().add("trace", parts[3].getBytes(StandardCharsets.UTF_8));
                producer.send(record, (metadata, error) -> tell(error != null
                    ? "{\"event\":\"failed\",\"error\":" + quoted(error.toString()) + "}"
                    : "{\"event\":\"delivered\",\"partition\":" + metadata.partition() + ",\"offset\":" + metadata.offset()
                        + ",\"value\":" + quoted(parts[1]) + "}"));
            }
        }
    }

    private static KafkaConsumer<String, String> consumer() {
        settings.put("auto.offset.reset", "earliest");
        settings.put("enable.auto.commit", "false");
        settings.put("fetch.max.wait.ms", "50");
        return new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer());
    }

    private static void group() {
        var ended = new AtomicBoolean();
        var owned = new TreeSet<String>();
        settings.put("group.id", options.get("group"));
        settings.put("partition.assignment.strategy", "org.apache.kafka.clients.consumer." + options.get("assignor"));
        settings.put("heartbeat.interval.ms", "100");
        settings.put("session.timeout.ms", "10000");
        try (var consumer = consumer()) {
            var waiting = new Thread(() -> {
                try {
                    System.in.read();
                } catch (java.io.IOException e) {
                    e.printStackTrace();
                }
                ended.set(true);
            });
            waiting.setDaemon(true);
            waiting.start();
            consumer.subscribe(List.of(options.get("topic")), new ConsumerRebalanceListener() {
                @Override
                public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
                    for (var partition : partitions) owned.add(pair(partition));
                    tellOwned(owned);
                }

                @Override
                public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
                    consumer.commitSync();
                    for (var partition : partitions) owned.remove(pair(partition));
                    tellOwned(owned);
                }
            });
            while (!ended.get()) {
                for (var record : consumer.poll(Duration.ofMillis(50))) tellRecord(record);
            }
            consumer.commitSync();
        }
        tell("{\"event\":\"closed\"}");
    }

    /** Reads so many records of one partition from an offset on, without a group. */
    private static void consume() {
        var partition = new TopicPartition(options.get("topic"), Integer.parseInt(options.get("partition")));
        int count = Integer.parseInt(options.get("count"));
        try (var consumer = consumer()) {
            consumer.assign(List.of(partition));
            consumer.seek(partition, Long.parseLong(options.get("offset")));
            while (count > 0) {
                for (var record : consumer.poll(Duration.ofMillis(50))) {
                    if (count-- > 0) tellRecord(record);
                }
            }
        }
        tell("{\"event\":\"closed\"}");
    }

    private static void tellRecord(ConsumerRecord<String, String> record) {
        var headers = new ArrayList<String>();
        for (var header : record.headers()) {
            headers.add("[" + quoted(header.key()) + "," + quoted(new String(header.value(), StandardCharsets.UTF_8)) + "]");
        }
        tell("{\"event\":\"record\",\"partition\":" + record.partition() + ",\"offset\":" + record.offset()
            + ",\"key\":" + quoted(record.key()) + ",\"value\":" + quoted(record.value())
            + ",\"headers\":[" + String.join(",", headers) + "]}");
    }

    private static void tellOwned(Collection<String> owned) {
        tell("{\"event\":\"assigned\",\"partitions\":[" + String.join(",", owned) + "]}");
    }

    private static String pair(TopicPartition partition) {
        return "[" + quoted(partition.topic()) + "," + partition.partition() + "]";
    }

    private static String quoted(String text) {
        return text == null ? "null" : "\"" + text.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n") + "\"";
    }

    private static synchronized void tell(String line) {
        System.out.println(line);
        System.out.flush();
    }
}
