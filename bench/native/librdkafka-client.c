// What C comes to: the produce and consume workloads on librdkafka, with the clock where client-process.mjs has it. Prints one line of JSON.
//   librdkafka-client produce BROKERS TOPIC RECORDS BYTES keyed|plain     plain: all of it to partition 0
//   librdkafka-client consume BROKERS TOPIC RECORDS GROUP record|batch
#include <librdkafka/rdkafka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { NVALUES = 1024, NKEYS = 4096, MAX_BYTES = 65536, MAX_OUTSTANDING = 100000 };

typedef struct { double wall, user, sys; } clock_point;
static clock_point now(void) {
  struct timespec t;
  struct rusage r;
  clock_gettime(CLOCK_MONOTONIC, &t);
  getrusage(RUSAGE_SELF, &r);
  return (clock_point){t.tv_sec * 1e3 + t.tv_nsec / 1e6, r.ru_utime.tv_sec * 1e3 + r.ru_utime.tv_usec / 1e3,
                       r.ru_stime.tv_sec * 1e3 + r.ru_stime.tv_usec / 1e3};
}
static void report(clock_point a, clock_point b, double first, long records, long bytes, long failed) {
  struct rusage r;
  getrusage(RUSAGE_SELF, &r);
  printf("{\"records\":%ld,\"bytes\":%ld,\"failed\":%ld,\"warmup\":1,\"wallMs\":%.1f,\"userMs\":%.1f,\"sysMs\":%.1f,"
         "\"rssMb\":%.1f", records, bytes, failed, b.wall - a.wall, b.user - a.user, b.sys - a.sys, r.ru_maxrss / 1024.0);
  if (first > 0) printf(",\"firstMs\":%.1f", first - a.wall);
  printf("}\n");
}

static rd_kafka_conf_t *conf;
static void set(const char *key, const char *value) {
  char error[512];
  if (rd_kafka_conf_set(conf, key, value, error, sizeof error) != RD_KAFKA_CONF_OK) {
    fprintf(stderr, "%s\n", error);
    exit(1);
  }
}
static rd_kafka_t *client(rd_kafka_type_t type) {
  char error[512];
  rd_kafka_t *k = rd_kafka_new(type, conf, error, sizeof error);
  if (!k) { fprintf(stderr, "%s\n", error); exit(1); }
  return k;
}

static long delivered, failed;
static void on_delivery(rd_kafka_t *k, const rd_kafka_message_t *m, void *opaque) {
  (void)k, (void)opaque;
  if (m->err) failed++;
  delivered++;
}
static char values[NVALUES][MAX_BYTES], keys[NKEYS][16];
static void make_payload(int bytes) { // JSON-like text, half of it random hex, like that of client-process.mjs
  for (int i = 0; i < NVALUES; i++) {
    int n = snprintf(values[i], MAX_BYTES, "{\"id\":%d,\"user\":\"user-%d\",\"v\":\"", 1000000 + i, i * 7919 % 5000);
    while (n < bytes - 2) {
      for (int k = 0; k < 17 && n < bytes - 2; k++) values[i][n++] = "0123456789abcdef"[rand() & 15];
      for (const char *x = " level=info "; *x && n < bytes - 2; x++) values[i][n++] = *x;
    }
    memcpy(values[i] + n, "\"}", 2);
  }
  for (int i = 0; i < NKEYS; i++) snprintf(keys[i], sizeof keys[i], "user-%d", i);
}
static void produce(const char *topic, long records, int bytes, int keyed) {
  set("linger.ms", "5");
  set("acks", "1");
  set("queue.buffering.max.messages", "1000000");
  set("partitioner", "murmur2_random");
  rd_kafka_conf_set_dr_msg_cb(conf, on_delivery);
  rd_kafka_t *k = client(RD_KAFKA_PRODUCER);
  rd_kafka_topic_t *t = rd_kafka_topic_new(k, topic, NULL);
  make_payload(bytes);
  const char *first_key = keyed ? keys[0] : NULL;
  rd_kafka_produce(t, keyed ? RD_KAFKA_PARTITION_UA : 0, RD_KAFKA_MSG_F_COPY, values[0], bytes, first_key,
                   first_key ? strlen(first_key) : 0, NULL);
  rd_kafka_flush(k, 5000);
  delivered = 0;
  clock_point start = now();
  for (long i = 0; i < records; i++) {
    const char *key = keyed ? keys[i % NKEYS] : NULL;
    while (rd_kafka_produce(t, keyed ? RD_KAFKA_PARTITION_UA : 0, RD_KAFKA_MSG_F_COPY, values[i % NVALUES], bytes, key,
                            key ? strlen(key) : 0, NULL) == -1)
      rd_kafka_poll(k, 10);
    if (i % 256 == 0) rd_kafka_poll(k, 0);
    while (i - delivered > MAX_OUTSTANDING) rd_kafka_poll(k, 1);
  }
  while (delivered < records) rd_kafka_poll(k, 10);
  report(start, now(), 0, delivered, delivered * bytes, failed);
}
static void consume(const char *topic, long records, const char *group, int batched) {
  set("group.id", group);
  set("enable.auto.commit", "false");
  set("auto.offset.reset", "earliest");
  rd_kafka_t *k = client(RD_KAFKA_CONSUMER);
  rd_kafka_poll_set_consumer(k);
  rd_kafka_topic_partition_list_t *topics = rd_kafka_topic_partition_list_new(1);
  rd_kafka_topic_partition_list_add(topics, topic, RD_KAFKA_PARTITION_UA);
  clock_point start = now();
  rd_kafka_subscribe(k, topics);
  rd_kafka_queue_t *queue = rd_kafka_queue_get_consumer(k);
  rd_kafka_message_t *m[1000];
  long got = 0, bytes = 0;
  double first = 0;
  while (got < records) {
    ssize_t n = batched ? rd_kafka_consume_batch_queue(queue, 100, m, 1000) : (m[0] = rd_kafka_consumer_poll(k, 100)) != NULL;
    for (ssize_t i = 0; i < n; i++) {
      if (!m[i]->err) {
        if (got++ == 0) first = now().wall;
        bytes += m[i]->len;
      }
      rd_kafka_message_destroy(m[i]);
    }
  }
  report(start, now(), first, got, bytes, 0);
}
int main(int argc, char **argv) {
  int is_produce = argc == 7 && !strcmp(argv[1], "produce"), is_consume = argc == 7 && !strcmp(argv[1], "consume");
  if (!is_produce && !is_consume) { fprintf(stderr, "see the first lines of librdkafka-client.c\n"); return 2; }
  conf = rd_kafka_conf_new();
  set("bootstrap.servers", argv[2]);
  if (is_produce) produce(argv[3], atol(argv[4]), atoi(argv[5]), !strcmp(argv[6], "keyed"));
  else consume(argv[3], atol(argv[4]), argv[5], !strcmp(argv[6], "batch"));
  fflush(stdout);
  _Exit(0); // leaving a group and joining librdkafka's threads is not part of the run
}
