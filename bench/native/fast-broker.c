// The other end of every bench: takes and gives records by Kafka's protocol at next to no cost, so that the client is measured.
//   fast-broker [PORT]    listens on 127.0.0.1 (0: any free port) and prints {"port":N}
//   kill -USR1 PID        has it print what it counted since the last time, as a line of JSON
// One thread on epoll; logs are memory, and an answer to a Fetch is written straight from them. It waits by min_bytes and max_wait as
// a broker does. A topic is there once it is named: "sink..." drops what it counts, "...-pN" has N partitions, others one. A group is
// its last member. Producer ids are given out, sequences are not looked at; nothing is committed, no CRC is checked and all input is
// believed: never test a client against it.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { PRODUCE = 0, FETCH = 1, LIST_OFFSETS = 2, METADATA = 3, OFFSET_COMMIT = 8, OFFSET_FETCH = 9, FIND_COORDINATOR = 10,
       JOIN_GROUP = 11, HEARTBEAT = 12, LEAVE_GROUP = 13, SYNC_GROUP = 14, API_VERSIONS = 18, INIT_PRODUCER_ID = 22 };
enum { OFFSET_OUT_OF_RANGE = 1, UNKNOWN_TOPIC_OR_PARTITION = 3, UNSUPPORTED_VERSION = 35 };
enum { MAX_TOPICS = 4096, MAX_FETCH_PARTITIONS = 4096, MAX_API = 64, BATCH_HEADER = 61 };

static const struct { int16_t key, min, max; } apis[] = {
    {PRODUCE, 3, 9},      {FETCH, 4, 12},      {LIST_OFFSETS, 1, 5}, {METADATA, 0, 8},   {OFFSET_COMMIT, 0, 7},
    {OFFSET_FETCH, 0, 5}, {FIND_COORDINATOR, 0, 2}, {JOIN_GROUP, 0, 5}, {HEARTBEAT, 0, 3}, {LEAVE_GROUP, 0, 3},
    {SYNC_GROUP, 0, 3},   {API_VERSIONS, 0, 3}, {INIT_PRODUCER_ID, 0, 1}};
static const int napis = sizeof apis / sizeof *apis;

typedef struct { int64_t base, next; uint32_t len; uint8_t *bytes; } batch_t;
typedef struct { batch_t *batches; int n, cap; int64_t next; } partition_t;
typedef struct { char name[128]; int npartitions; bool sink; partition_t *partitions; } topic_t;
// what is still to be written to a connection; `owned` is freed once written
typedef struct segment { struct segment *next; const uint8_t *p; size_t len; void *owned; } segment_t;
// a parked connection has an unanswered Fetch at the start of `in`, and is on the parked list
typedef struct conn {
  int fd;
  uint8_t *in;
  size_t in_len, in_cap;
  segment_t *out_head, *out_tail;
  bool wants_out, parked, dead;
  int64_t deadline;
  struct conn *next_parked;
} conn_t;
typedef struct { uint8_t *p; size_t len, cap; } writer_t;
typedef struct { const uint8_t *p, *end; bool flexible; } reader_t;

static topic_t *topics[MAX_TOPICS];
static int ntopics, port, epoll_fd;
static conn_t *parked;
static int64_t requests[MAX_API], records_in, records_out;
static volatile sig_atomic_t counters_wanted;

static int64_t now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}
static int32_t be32_at(const uint8_t *p) { uint32_t x; memcpy(&x, p, 4); return (int32_t)be32toh(x); }

// ---- writing and reading the protocol's primitives
static void put(writer_t *w, const void *p, size_t n) {
  if (w->len + n > w->cap) {
    w->cap = w->cap ? w->cap * 2 : 256;
    while (w->cap < w->len + n) w->cap *= 2;
    w->p = realloc(w->p, w->cap);
  }
  memcpy(w->p + w->len, p, n);
  w->len += n;
}
static void w8(writer_t *w, int v) { uint8_t x = v; put(w, &x, 1); }
static void w16(writer_t *w, int v) { uint16_t x = htobe16(v); put(w, &x, 2); }
static void w32(writer_t *w, int32_t v) { uint32_t x = htobe32(v); put(w, &x, 4); }
static void w64(writer_t *w, int64_t v) { uint64_t x = htobe64(v); put(w, &x, 8); }
static void wuvarint(writer_t *w, uint32_t v) {
  for (; v >= 0x80; v >>= 7) w8(w, (v & 0x7f) | 0x80);
  w8(w, v);
}
static void wlength(writer_t *w, int n, bool flexible) { if (flexible) wuvarint(w, n + 1); else w32(w, n); }
static void wstring(writer_t *w, const char *s, int n, bool flexible) {
  if (flexible) wuvarint(w, s ? n + 1 : 0); else w16(w, s ? n : -1);
  if (s) put(w, s, n);
}
static void wtags(writer_t *w, bool flexible) { if (flexible) w8(w, 0); }

static const uint8_t *take(reader_t *r, size_t n) {
  const uint8_t *p = r->p;
  static const uint8_t zeros[8];
  r->p += n;
  return r->p <= r->end ? p : zeros;
}
static int r8(reader_t *r) { return (int8_t)*take(r, 1); }
static int r16(reader_t *r) { uint16_t x; memcpy(&x, take(r, 2), 2); return (int16_t)be16toh(x); }
static int32_t r32(reader_t *r) { return be32_at(take(r, 4)); }
static int64_t r64(reader_t *r) { uint64_t x; memcpy(&x, take(r, 8), 8); return be64toh(x); }
static uint32_t ruvarint(reader_t *r) {
  uint32_t v = 0;
  for (int shift = 0; r->p < r->end; shift += 7) {
    uint8_t b = *r->p++;
    v |= (uint32_t)(b & 0x7f) << shift;
    if (!(b & 0x80)) break;
  }
  return v;
}
static int rlength(reader_t *r) { return r->flexible ? (int)ruvarint(r) - 1 : r32(r); }
static const uint8_t *rblock(reader_t *r, int len, int *n) {
  *n = len < 0 ? 0 : len;
  const uint8_t *p = len < 0 ? NULL : r->p;
  r->p += *n;
  return p;
}
static const char *rstring(reader_t *r, int *n) {
  return (const char *)rblock(r, r->flexible ? (int)ruvarint(r) - 1 : r16(r), n);
}
static const uint8_t *rbytes(reader_t *r, int *n) { return rblock(r, rlength(r), n); }
static void skip_string(reader_t *r) { int n; rstring(r, &n); }
static void rtags(reader_t *r) {
  if (!r->flexible) return;
  for (int n = ruvarint(r); n > 0; n--) { ruvarint(r); r->p += ruvarint(r); }
}

// ---- topics
static topic_t *topic_named(const char *s, int n) {
  for (int i = 0; i < ntopics; i++)
    if ((int)strlen(topics[i]->name) == n && !memcmp(topics[i]->name, s, n)) return topics[i];
  if (n >= (int)sizeof topics[0]->name || ntopics >= MAX_TOPICS) return NULL;
  topic_t *t = calloc(1, sizeof *t);
  memcpy(t->name, s, n);
  const char *suffix = strrchr(t->name, '-');
  t->npartitions = suffix && suffix[1] == 'p' && atoi(suffix + 2) > 0 ? atoi(suffix + 2) : 1;
  t->sink = !strncmp(t->name, "sink", 4);
  t->partitions = calloc(t->npartitions, sizeof(partition_t));
  return topics[ntopics++] = t;
}
static bool has_partition(const topic_t *t, int p) { return t && p >= 0 && p < t->npartitions; }

static int64_t append(topic_t *t, int index, const uint8_t *p, int len) {
  partition_t *part = &t->partitions[index];
  int64_t base = part->next;
  for (int at = 0; at + BATCH_HEADER <= len;) {
    int size = be32_at(p + at + 8) + 12, n = be32_at(p + at + 23) + 1;
    if (!t->sink) {
      if (part->n == part->cap) {
        part->cap = part->cap ? part->cap * 2 : 64;
        part->batches = realloc(part->batches, part->cap * sizeof(batch_t));
      }
      batch_t *b = &part->batches[part->n++];
      *b = (batch_t){part->next, part->next + n, size, malloc(size)};
      memcpy(b->bytes, p + at, size);
      uint64_t offset = htobe64(b->base);
      memcpy(b->bytes, &offset, 8);
    }
    records_in += n;
    part->next += n;
    at += size;
  }
  return base;
}

// ---- connections
static void watch(conn_t *c, bool for_out) {
  c->wants_out = for_out;
  struct epoll_event e = {.events = EPOLLIN | (for_out ? EPOLLOUT : 0), .data.ptr = c};
  epoll_ctl(epoll_fd, EPOLL_CTL_MOD, c->fd, &e);
}
static void queue(conn_t *c, const void *p, size_t len, void *owned) {
  segment_t *s = malloc(sizeof *s);
  *s = (segment_t){NULL, p, len, owned};
  if (c->out_tail) c->out_tail->next = s; else c->out_head = s;
  c->out_tail = s;
}
static void drop_head(conn_t *c) {
  segment_t *s = c->out_head;
  c->out_head = s->next;
  if (!c->out_head) c->out_tail = NULL;
  free(s->owned);
  free(s);
}
static void flush(conn_t *c) {
  while (c->out_head) {
    struct iovec v[64];
    int n = 0;
    for (segment_t *s = c->out_head; s && n < 64; s = s->next) v[n++] = (struct iovec){(void *)s->p, s->len};
    ssize_t written = writev(c->fd, v, n);
    if (written < 0) {
      if (errno != EAGAIN) c->dead = true;
      else if (!c->wants_out) watch(c, true);
      return;
    }
    while (c->out_head && (written > 0 || c->out_head->len == 0)) {
      segment_t *s = c->out_head;
      if ((size_t)written >= s->len) {
        written -= s->len;
        drop_head(c);
      } else {
        s->p += written;
        s->len -= written;
        written = 0;
      }
    }
  }
  if (c->wants_out) watch(c, false);
}
static void set_frame_length(writer_t *w, size_t beyond) {
  uint32_t len = htobe32(w->len - 4 + beyond);
  memcpy(w->p, &len, 4);
}
static void unpark(conn_t *c) {
  conn_t **at = &parked;
  while (*at && *at != c) at = &(*at)->next_parked;
  if (*at) *at = c->next_parked;
  c->parked = false;
}
static void close_conn(conn_t *c) {
  if (c->parked) unpark(c);
  close(c->fd);
  while (c->out_head) drop_head(c);
  free(c->in);
  free(c);
}

// ---- Fetch: false when the request was parked to wait for data
static bool fetch(conn_t *c, reader_t r, int version, int32_t correlation, bool force) {
  static struct { topic_t *topic; int partition, from, to, error; int64_t bytes; size_t at; } found[MAX_FETCH_PARTITIONS];
  bool flexible = version >= 12;
  r32(&r); // replica
  int max_wait = r32(&r), min_bytes = r32(&r);
  int64_t max_bytes = r32(&r), total = 0;
  r8(&r); // isolation
  if (version >= 7) r64(&r); // session id and epoch
  int ntopics_asked = rlength(&r), n = 0;
  bool error = false;
  reader_t asked = r;
  for (int i = 0; i < ntopics_asked; i++) {
    int len;
    const char *name = rstring(&r, &len);
    topic_t *t = topic_named(name, len);
    for (int np = rlength(&r); np > 0; np--) {
      int p = r32(&r);
      if (version >= 9) r32(&r);
      int64_t offset = r64(&r);
      if (version >= 12) r32(&r);
      if (version >= 5) r64(&r);
      int64_t partition_max = r32(&r);
      rtags(&r);
      if (n == MAX_FETCH_PARTITIONS) { c->dead = true; return true; }
      partition_t *part = has_partition(t, p) ? &t->partitions[p] : NULL;
      int code = !part ? UNKNOWN_TOPIC_OR_PARTITION : offset < 0 || offset > part->next ? OFFSET_OUT_OF_RANGE : 0;
      int from = 0, to = 0;
      int64_t bytes = 0;
      if (!code && offset < part->next && !t->sink) {
        int lo = 0, hi = part->n - 1;
        while (lo < hi) {
          int mid = (lo + hi) / 2;
          if (part->batches[mid].next <= offset) lo = mid + 1; else hi = mid;
        }
        for (from = to = lo; to < part->n; to++) {
          int64_t len = part->batches[to].len;
          if (total > 0 && (bytes + len > partition_max || total + len > max_bytes)) break;
          bytes += len;
          total += len;
        }
      }
      error |= code != 0;
      found[n].topic = t;
      found[n].partition = p;
      found[n].from = from;
      found[n].to = to;
      found[n].error = code;
      found[n++].bytes = bytes;
    }
    rtags(&r);
  }
  if (!force && !error && total < min_bytes && max_wait > 0) {
    if (!c->parked) {
      c->parked = true;
      c->deadline = now_ms() + max_wait;
      c->next_parked = parked;
      parked = c;
    }
    return false;
  }

  writer_t w = {0};
  w32(&w, 0);
  w32(&w, correlation);
  wtags(&w, flexible);
  w32(&w, 0); // throttle
  if (version >= 7) { w16(&w, 0); w32(&w, 0); } // error, session id
  wlength(&w, ntopics_asked, flexible);
  r = asked;
  for (int i = 0, k = 0; i < ntopics_asked; i++) {
    int len;
    const char *name = rstring(&r, &len);
    int np = rlength(&r);
    wstring(&w, name, len, flexible);
    wlength(&w, np, flexible);
    for (int j = 0; j < np; j++, k++) {
      take(&r, 4 + (version >= 9 ? 4 : 0) + 8 + (version >= 12 ? 4 : 0) + (version >= 5 ? 8 : 0) + 4);
      rtags(&r);
      bool known = found[k].error != UNKNOWN_TOPIC_OR_PARTITION;
      int64_t high_watermark = known ? found[k].topic->partitions[found[k].partition].next : -1;
      w32(&w, found[k].partition);
      w16(&w, found[k].error);
      w64(&w, high_watermark);
      w64(&w, high_watermark); // last stable offset
      if (version >= 5) w64(&w, 0); // log start offset
      wlength(&w, 0, flexible); // aborted transactions
      if (version >= 11) w32(&w, -1); // preferred read replica
      wlength(&w, found[k].bytes, flexible);
      found[k].at = w.len;
      wtags(&w, flexible);
    }
    rtags(&r);
    wtags(&w, flexible);
  }
  wtags(&w, flexible);
  set_frame_length(&w, total);
  size_t sent = 0;
  for (int k = 0; k < n; k++) {
    if (found[k].bytes == 0) continue;
    queue(c, w.p + sent, found[k].at - sent, NULL);
    sent = found[k].at;
    partition_t *part = &found[k].topic->partitions[found[k].partition];
    for (batch_t *b = part->batches + found[k].from; b < part->batches + found[k].to; b++) {
      queue(c, b->bytes, b->len, NULL);
      records_out += b->next - b->base;
    }
  }
  queue(c, w.p + sent, w.len - sent, w.p);
  requests[FETCH]++;
  return true;
}

// ---- the other requests: each reads its body and writes its answer; false when no answer is due
static bool produce(reader_t *r, writer_t *w, int version) {
  bool flexible = r->flexible;
  skip_string(r); // transactional id
  int acks = r16(r);
  r32(r); // timeout
  int nt = rlength(r);
  wlength(w, nt, flexible);
  for (int i = 0; i < nt; i++) {
    int len;
    const char *name = rstring(r, &len);
    topic_t *t = topic_named(name, len);
    int np = rlength(r);
    wstring(w, name, len, flexible);
    wlength(w, np, flexible);
    for (int j = 0; j < np; j++) {
      int p = r32(r), size;
      const uint8_t *records = rbytes(r, &size);
      rtags(r);
      bool known = has_partition(t, p);
      w32(w, p);
      w16(w, known ? 0 : UNKNOWN_TOPIC_OR_PARTITION);
      w64(w, known && records ? append(t, p, records, size) : -1);
      w64(w, -1); // log append time
      if (version >= 5) w64(w, 0); // log start offset
      if (version >= 8) { wlength(w, 0, flexible); wstring(w, NULL, 0, flexible); } // record errors, message
      wtags(w, flexible);
    }
    rtags(r);
    wtags(w, flexible);
  }
  w32(w, 0); // throttle
  wtags(w, flexible);
  return acks != 0;
}
static void api_versions(writer_t *w, int version) {
  bool known = version <= 3, flexible = version == 3; // an unknown version is answered in version 0
  w16(w, known ? 0 : UNSUPPORTED_VERSION);
  wlength(w, napis, flexible);
  for (int i = 0; i < napis; i++) {
    w16(w, apis[i].key);
    w16(w, apis[i].min);
    w16(w, apis[i].max);
    wtags(w, flexible);
  }
  if (known && version >= 1) w32(w, 0); // throttle
  wtags(w, flexible);
}
static void metadata(reader_t *r, writer_t *w, int version) {
  int asked = r32(r);
  bool all = asked < 0 || (asked == 0 && version == 0);
  int nt = all ? ntopics : asked;
  if (version >= 3) w32(w, 0); // throttle
  w32(w, 1);
  w32(w, 1); // the one node
  wstring(w, "127.0.0.1", 9, false);
  w32(w, port);
  if (version >= 1) w16(w, -1); // rack
  if (version >= 2) wstring(w, "fast", 4, false);
  if (version >= 1) w32(w, 1); // controller
  w32(w, nt);
  for (int i = 0; i < nt; i++) {
    int len = 0;
    const char *name = all ? topics[i]->name : rstring(r, &len);
    topic_t *t = all ? topics[i] : topic_named(name, len);
    int np = t ? t->npartitions : 0;
    w16(w, t ? 0 : UNKNOWN_TOPIC_OR_PARTITION);
    wstring(w, name, all ? (int)strlen(name) : len, false);
    if (version >= 1) w8(w, 0); // internal
    w32(w, np);
    for (int p = 0; p < np; p++) {
      w16(w, 0);
      w32(w, p);
      w32(w, 1); // leader
      if (version >= 7) w32(w, 0); // leader epoch
      w32(w, 1); w32(w, 1); // replicas
      w32(w, 1); w32(w, 1); // in-sync replicas
      if (version >= 5) w32(w, 0); // offline replicas
    }
    if (version >= 8) w32(w, INT32_MIN); // authorized operations: not asked
  }
  if (version >= 8) w32(w, INT32_MIN);
}
static void list_offsets(reader_t *r, writer_t *w, int version) {
  r32(r); // replica
  if (version >= 2) { r8(r); w32(w, 0); } // isolation; throttle
  int nt = r32(r);
  w32(w, nt);
  for (int i = 0; i < nt; i++) {
    int len;
    const char *name = rstring(r, &len);
    topic_t *t = topic_named(name, len);
    int np = r32(r);
    wstring(w, name, len, false);
    w32(w, np);
    for (int j = 0; j < np; j++) {
      int p = r32(r);
      if (version >= 4) r32(r);
      bool earliest = r64(r) == -2, known = has_partition(t, p);
      w32(w, p);
      w16(w, known ? 0 : UNKNOWN_TOPIC_OR_PARTITION);
      w64(w, -1); // timestamp
      w64(w, !known ? -1 : earliest ? 0 : t->partitions[p].next);
      if (version >= 4) w32(w, 0); // leader epoch
    }
  }
}
static void find_coordinator(writer_t *w, int version) {
  if (version >= 1) w32(w, 0); // throttle
  w16(w, 0);
  if (version >= 1) w16(w, -1); // message
  w32(w, 1);
  wstring(w, "127.0.0.1", 9, false);
  w32(w, port);
}
static void join_group(reader_t *r, writer_t *w, int version) {
  static int members;
  char fresh[32];
  int member_len, instance_len = 0, protocol_len, metadata_len;
  skip_string(r); // group
  r32(r); // session timeout
  if (version >= 1) r32(r); // rebalance timeout
  const char *member = rstring(r, &member_len), *instance = version >= 5 ? rstring(r, &instance_len) : NULL;
  skip_string(r); // protocol type
  r32(r); // protocols: the first is taken
  const char *protocol = rstring(r, &protocol_len);
  const uint8_t *bytes = rbytes(r, &metadata_len);
  if (member_len == 0) {
    member_len = snprintf(fresh, sizeof fresh, "member-%d", ++members);
    member = fresh;
  }
  if (version >= 2) w32(w, 0); // throttle
  w16(w, 0);
  w32(w, 1); // generation
  wstring(w, protocol, protocol_len, false);
  wstring(w, member, member_len, false); // leader
  wstring(w, member, member_len, false);
  w32(w, 1);
  wstring(w, member, member_len, false);
  if (version >= 5) wstring(w, instance, instance_len, false);
  w32(w, metadata_len);
  put(w, bytes, metadata_len);
}
static void sync_group(reader_t *r, writer_t *w, int version) {
  int len = 0;
  const uint8_t *assignment = (const uint8_t *)"";
  skip_string(r); // group
  r32(r); // generation
  skip_string(r); // member
  if (version >= 3) skip_string(r); // instance
  if (r32(r) > 0) { skip_string(r); assignment = rbytes(r, &len); }
  if (version >= 1) w32(w, 0); // throttle
  w16(w, 0);
  w32(w, len);
  put(w, assignment, len);
}
static void offset_fetch(reader_t *r, writer_t *w, int version) {
  skip_string(r); // group
  int nt = r32(r);
  if (nt < 0) nt = 0;
  if (version >= 3) w32(w, 0); // throttle
  w32(w, nt);
  for (int i = 0; i < nt; i++) {
    int len;
    const char *name = rstring(r, &len);
    int np = r32(r);
    wstring(w, name, len, false);
    w32(w, np);
    for (int j = 0; j < np; j++) {
      w32(w, r32(r));
      w64(w, -1); // nothing committed
      if (version >= 5) w32(w, -1);
      wstring(w, "", 0, false);
      w16(w, 0);
    }
  }
  if (version >= 2) w16(w, 0);
}
static void offset_commit(reader_t *r, writer_t *w, int version) {
  skip_string(r); // group
  if (version >= 1) { r32(r); skip_string(r); } // generation, member
  if (version >= 7) skip_string(r); // instance
  if (version >= 2 && version <= 4) r64(r); // retention
  int nt = r32(r);
  if (version >= 3) w32(w, 0); // throttle
  w32(w, nt);
  for (int i = 0; i < nt; i++) {
    int len;
    const char *name = rstring(r, &len);
    int np = r32(r);
    wstring(w, name, len, false);
    w32(w, np);
    for (int j = 0; j < np; j++) {
      w32(w, r32(r));
      r64(r); // offset
      if (version >= 6) r32(r); // leader epoch
      if (version == 1) r64(r); // timestamp
      skip_string(r);
      w16(w, 0);
    }
  }
}

typedef struct { int key, version; int32_t correlation; reader_t body; } request_t;
static request_t parse(const uint8_t *frame, size_t len) {
  reader_t r = {frame, frame + len, false};
  request_t q = {.key = r16(&r), .version = 0};
  q.version = r16(&r);
  q.correlation = r32(&r);
  skip_string(&r); // client id
  r.flexible = (q.key == PRODUCE && q.version >= 9) || (q.key == FETCH && q.version >= 12) ||
               (q.key == API_VERSIONS && q.version >= 3);
  rtags(&r);
  q.body = r;
  return q;
}
// false when the request was parked: its frame must be kept
static bool handle(conn_t *c, const uint8_t *frame, size_t len) {
  request_t q = parse(frame, len);
  reader_t *r = &q.body;
  if (q.key == FETCH) return fetch(c, q.body, q.version, q.correlation, false);
  bool answer = true;
  writer_t w = {0};
  w32(&w, 0);
  w32(&w, q.correlation);
  if (q.key != API_VERSIONS) wtags(&w, r->flexible);
  switch (q.key) {
  case PRODUCE: answer = produce(r, &w, q.version); break;
  case LIST_OFFSETS: list_offsets(r, &w, q.version); break;
  case METADATA: metadata(r, &w, q.version); break;
  case OFFSET_COMMIT: offset_commit(r, &w, q.version); break;
  case OFFSET_FETCH: offset_fetch(r, &w, q.version); break;
  case FIND_COORDINATOR: find_coordinator(&w, q.version); break;
  case JOIN_GROUP: join_group(r, &w, q.version); break;
  case SYNC_GROUP: sync_group(r, &w, q.version); break;
  case HEARTBEAT:
  case LEAVE_GROUP:
    if (q.version >= 1) w32(&w, 0);
    w16(&w, 0);
    if (q.key == LEAVE_GROUP && q.version >= 3) w32(&w, 0); // members
    break;
  case API_VERSIONS: api_versions(&w, q.version); break;
  case INIT_PRODUCER_ID: {
    static int64_t producer_id = 1000;
    w32(&w, 0);
    w16(&w, 0);
    w64(&w, producer_id++);
    w16(&w, 0); // epoch
    break;
  }
  default:
    fprintf(stderr, "fast-broker does not know API %d version %d\n", q.key, q.version);
    c->dead = true;
    answer = false;
  }
  if (q.key >= 0 && q.key < MAX_API) requests[q.key]++;
  if (answer) {
    set_frame_length(&w, 0);
    queue(c, w.p, w.len, w.p);
  } else free(w.p);
  return true;
}
static void process(conn_t *c) {
  size_t at = 0;
  while (!c->parked && !c->dead && c->in_len - at >= 4) {
    size_t len = (uint32_t)be32_at(c->in + at);
    if (c->in_len - at < 4 + len) {
      if (4 + len > c->in_cap) c->in = realloc(c->in, c->in_cap = 4 + len + 65536);
      break;
    }
    if (!handle(c, c->in + at + 4, len)) break;
    at += 4 + len;
  }
  if (at) memmove(c->in, c->in + at, c->in_len -= at);
  if (c->out_head) flush(c);
}
static bool answer_parked(conn_t *c, bool force) {
  size_t len = (uint32_t)be32_at(c->in);
  request_t q = parse(c->in + 4, len);
  if (!fetch(c, q.body, q.version, q.correlation, force)) return false;
  unpark(c);
  memmove(c->in, c->in + 4 + len, c->in_len -= 4 + len);
  flush(c);
  process(c);
  return true;
}
// Answering one may park or unpark others, so the list is read again from its start.
static void answer_all_parked(int64_t now) {
  for (conn_t *c = parked; c;) c = answer_parked(c, c->deadline <= now) ? parked : c->next_parked;
}

static void accept_conn(int listener) {
  int one = 1, fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
  if (fd < 0) return;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  conn_t *c = calloc(1, sizeof *c);
  c->fd = fd;
  c->in = malloc(c->in_cap = 1 << 20);
  struct epoll_event e = {.events = EPOLLIN, .data.ptr = c};
  epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &e);
}
static void read_conn(conn_t *c) {
  if (c->in_len == c->in_cap) c->in = realloc(c->in, c->in_cap *= 2);
  ssize_t n = read(c->fd, c->in + c->in_len, c->in_cap - c->in_len);
  if (n > 0) {
    c->in_len += n;
    if (!c->parked) process(c);
  } else if (n == 0 || (errno != EAGAIN && errno != EINTR)) c->dead = true;
}
static void print_counters(void) {
  counters_wanted = 0;
  printf("{\"produce\":%lld,\"fetch\":%lld,\"recordsIn\":%lld,\"recordsOut\":%lld}\n", (long long)requests[PRODUCE],
         (long long)requests[FETCH], (long long)records_in, (long long)records_out);
  fflush(stdout);
  memset(requests, 0, sizeof requests);
  records_in = records_out = 0;
}
static void on_signal(int s) { (void)s; counters_wanted = 1; }

int main(int argc, char **argv) {
  signal(SIGPIPE, SIG_IGN);
  sigset_t usr1, none; // SIGUSR1 is let through only while waiting, else one that comes just before the wait is lost
  sigemptyset(&none);
  sigemptyset(&usr1);
  sigaddset(&usr1, SIGUSR1);
  sigprocmask(SIG_BLOCK, &usr1, NULL);
  sigaction(SIGUSR1, &(struct sigaction){.sa_handler = on_signal}, NULL);
  int listener = socket(AF_INET, SOCK_STREAM, 0), one = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  struct sockaddr_in a = {.sin_family = AF_INET,
                          .sin_port = htons(argc > 1 ? atoi(argv[1]) : 0),
                          .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof a;
  if (bind(listener, (void *)&a, size) || listen(listener, 64) || getsockname(listener, (void *)&a, &size)) {
    perror("fast-broker");
    return 1;
  }
  port = ntohs(a.sin_port);
  epoll_fd = epoll_create1(0);
  epoll_ctl(epoll_fd, EPOLL_CTL_ADD, listener, &(struct epoll_event){.events = EPOLLIN});
  printf("{\"port\":%d}\n", port);
  fflush(stdout);
  for (;;) {
    int timeout = -1;
    int64_t now = now_ms();
    for (conn_t *c = parked; c; c = c->next_parked) {
      int left = c->deadline > now ? c->deadline - now : 0;
      if (timeout < 0 || left < timeout) timeout = left;
    }
    struct epoll_event ready[64];
    int n = epoll_pwait(epoll_fd, ready, 64, timeout, &none);
    if (counters_wanted) print_counters();
    int64_t records_before = records_in;
    for (int i = 0; i < n; i++) {
      conn_t *c = ready[i].data.ptr;
      if (!c) { accept_conn(listener); continue; }
      if (ready[i].events & EPOLLOUT) flush(c);
      if (ready[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) read_conn(c);
      if (c->dead) close_conn(c);
    }
    if (parked && (records_in != records_before || now_ms() >= now + timeout)) answer_all_parked(now_ms());
  }
}
