// Writes record batches with Apache Kafka's own classes, and tells what they read in batches: of ours, to compare.
//   RecordFixtures write FOLDER
//   RecordFixtures read FILE...      one line of text per batch and record
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.record.internal.*;

public class RecordFixtures {
  static final long START = 1_700_000_000_000L;
  static final int COUNT = 1_000;
  static final String[] WORDS = {"anchor", "breeze", "cargo", "drift", "ebb", "flood", "gale", "harbour", "île", "jetty", "keel", "🚢"};
  static Path folder;

  public static void main(String[] args) throws Exception {
    if (args[0].equals("read")) {
      for (int i = 1; i < args.length; i++) read(Path.of(args[i]));
      return;
    }
    folder = Path.of(args[1]);
    for (String codec : new String[] {"none", "gzip", "snappy", "lz4", "zstd"}) {
      MemoryRecordsBuilder b = builder((byte) 2, codec, TimestampType.CREATE_TIME, 4000, -1, (short) -1, -1, false);
      for (int i = 0; i < (codec.equals("none") ? 60 : COUNT); i++) b.append(START + i * 37 - (i % 3) * 1000, key(i), value(i), headers(i));
      save("java-" + codec, b.build());
    }

    MemoryRecordsBuilder appended = builder((byte) 2, "gzip", TimestampType.LOG_APPEND_TIME, 7, -1, (short) -1, -1, false);
    for (int i = 1; i < 4; i++) appended.append(START + i, key(i), value(i));
    save("java-log-append-time", appended.build());

    MemoryRecordsBuilder transactional = builder((byte) 2, "none", TimestampType.CREATE_TIME, 0, 4_611_686_018L, (short) 12, 345, true);
    for (int i = 1; i < 4; i++) transactional.append(START + i, key(i), value(i));
    save("java-transactional", transactional.build());

    save("java-commit", MemoryRecords.withEndTransactionMarker(50, START, 3, 77, (short) 5, new EndTransactionMarker(ControlRecordType.COMMIT, 9)));
    save("java-abort", MemoryRecords.withEndTransactionMarker(51, START, 3, 77, (short) 5, new EndTransactionMarker(ControlRecordType.ABORT, 10)));

    // As the log cleaner leaves batches: with offsets missing, and without any record.
    MemoryRecordsBuilder gaps = builder((byte) 2, "lz4", TimestampType.CREATE_TIME, 100, -1, (short) -1, -1, false);
    for (int offset : new int[] {101, 104}) gaps.appendWithOffset(offset, START + offset, key(offset), value(offset));
    gaps.overrideLastOffset(109);
    save("java-gaps", gaps.build());
    ByteBuffer empty = ByteBuffer.allocate(DefaultRecordBatch.RECORD_BATCH_OVERHEAD);
    DefaultRecordBatch.writeEmptyHeader(empty, (byte) 2, 77, (short) 5, 20, 110, 119, 3, TimestampType.CREATE_TIME, START, false, false);
    empty.flip();
    save("java-empty", MemoryRecords.readableRecords(empty));

    for (byte magic = 0; magic < 2; magic++) {
      MemoryRecordsBuilder old = builder(magic, "none", TimestampType.CREATE_TIME, 30, -1, (short) -1, -1, false);
      for (int i = 1; i < 4; i++) old.append(START + i, key(i), value(i));
      save("java-magic-" + magic, old.build());
    }
  }

  static MemoryRecordsBuilder builder(byte magic, String codec, TimestampType type, long offset, long producer, short epoch, int sequence, boolean transactional) {
    TimestampType used = magic == 0 ? TimestampType.NO_TIMESTAMP_TYPE : type;
    return MemoryRecords.builder(ByteBuffer.allocate(1 << 20), magic, compression(codec), used, offset, START + 500, producer, epoch, sequence, transactional, 3);
  }

  static Compression compression(String codec) {
    return switch (codec) {
      case "gzip" -> Compression.gzip().build();
      case "snappy" -> Compression.snappy().build();
      case "lz4" -> Compression.lz4().build();
      case "zstd" -> Compression.zstd().build();
      default -> Compression.NONE;
    };
  }

  static void save(String name, MemoryRecords records) throws Exception {
    ByteBuffer buffer = records.buffer().duplicate();
    byte[] bytes = new byte[buffer.remaining()];
    buffer.get(bytes);
    Files.write(folder.resolve(name + ".bin"), bytes);
  }

  static byte[] key(int i) {
    return i % 7 == 0 ? null : i % 29 == 0 ? new byte[0] : utf8("key-" + i);
  }

  static byte[] value(int i) {
    if (i % 11 == 0) return null;
    if (i % 13 == 0) return new byte[0];
    int seed = i + 1;
    StringBuilder note = new StringBuilder();
    for (int k = 0; k < 12; k++) {
      seed = (seed * 1103515245 + 12345) & 0x7fffffff;
      note.append(' ').append(WORDS[(seed >>> 8) % WORDS.length]);
    }
    return utf8("{\"order\":" + i + ",\"customer\":\"c-" + (i * 7919) % 997 + "\",\"note\":\"" + note.substring(1) + "\"}");
  }

  static Header[] headers(int i) {
    if (i % 5 != 0) return new Header[0];
    return new Header[] {new RecordHeader("trace", utf8("t-" + i)), new RecordHeader("trace", null), new RecordHeader("", new byte[0])};
  }

  static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  static void read(Path file) throws Exception {
    for (MutableRecordBatch batch : MemoryRecords.readableRecords(ByteBuffer.wrap(Files.readAllBytes(file))).batches()) {
      batch.ensureValid();
      System.out.println("batch " + batch.baseOffset() + " " + batch.lastOffset() + " " + batch.compressionType().name + " " + batch.timestampType().name
          + " " + batch.maxTimestamp() + " " + batch.producerId() + " " + batch.producerEpoch() + " " + batch.baseSequence()
          + " " + batch.isTransactional() + " " + batch.isControlBatch() + " " + batch.partitionLeaderEpoch());
      for (org.apache.kafka.common.record.internal.Record record : batch) {
        StringBuilder line = new StringBuilder("record " + record.offset() + " " + record.timestamp() + " " + hex(record.key()) + " " + hex(record.value()));
        for (Header header : record.headers()) {
          line.append(" ").append(hex(ByteBuffer.wrap(utf8(header.key())))).append("=").append(hex(header.value() == null ? null : ByteBuffer.wrap(header.value())));
        }
        System.out.println(line);
      }
    }
  }

  static String hex(ByteBuffer bytes) {
    if (bytes == null) return "null";
    byte[] copy = new byte[bytes.remaining()];
    bytes.duplicate().get(copy);
    return "x" + HexFormat.of().formatHex(copy);
  }
}
