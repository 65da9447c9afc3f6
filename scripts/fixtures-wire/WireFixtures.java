// Fills Kafka's own message classes with values, in every version, and writes down the bytes they become.
// Usage: WireFixtures FOLDER NAME...   where NAME is an API (Fetch) or a struct (ConsumerProtocolSubscription).
// FOLDER/NAME.jsonl gets a line per version, direction and variant: {"of","version","variant","bytes","value"}, and headers.jsonl one per
// API version. Bytes are base64, in values too. The value is read back from the bytes, so it holds what Kafka takes absent fields for.
// The variant "full" sets everything; "bare" has null wherever it may be, empty strings and lists, and no tagged field.

import java.io.IOException;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.lang.reflect.ParameterizedType;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.message.RequestHeaderData;
import org.apache.kafka.common.message.ResponseHeaderData;
import org.apache.kafka.common.message.ApiMessageType;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.Message;
import org.apache.kafka.common.protocol.MessageUtil;
import org.apache.kafka.common.protocol.types.BoundField;
import org.apache.kafka.common.protocol.types.Schema;
import org.apache.kafka.common.protocol.types.TaggedFields;
import org.apache.kafka.common.protocol.types.Type;
import org.apache.kafka.common.record.internal.MemoryRecords;

public class WireFixtures {
  public static void main(String[] args) throws Exception {
    Path folder = Path.of(args[0]);
    List<String> headers = new ArrayList<>();
    for (String name : List.of(args).subList(1, args.length)) {
      List<String> lines = new ArrayList<>();
      ApiMessageType api = apiOf(name);
      if (api == null) {
        write(lines, "data", (Message) newOf(Class.forName("org.apache.kafka.common.message." + name)));
      } else {
        write(lines, "request", api.newRequest());
        write(lines, "response", api.newResponse());
        for (short v = api.lowestSupportedVersion(); v <= api.highestSupportedVersion(true); v++) headers.add(header(api, v));
      }
      save(folder.resolve(name + ".jsonl"), lines);
    }
    save(folder.resolve("headers.jsonl"), headers);
  }

  static ApiMessageType apiOf(String name) {
    for (ApiMessageType api : ApiMessageType.values()) if (api.name.equals(name)) return api;
    return null;
  }

  static void save(Path file, List<String> lines) throws IOException {
    Files.writeString(file, String.join("\n", lines) + "\n");
  }

  static String header(ApiMessageType api, short version) {
    int correlationId = 1_000_000 + version;
    String clientId = version % 2 == 0 ? "client-é" : null;
    Message request = new RequestHeaderData().setRequestApiKey(api.apiKey()).setRequestApiVersion(version)
        .setCorrelationId(correlationId).setClientId(clientId);
    Message response = new ResponseHeaderData().setCorrelationId(correlationId);
    return "{\"api\":" + json(api.name) + ",\"version\":" + version + ",\"correlationId\":" + correlationId
        + ",\"clientId\":" + json(clientId)
        + ",\"request\":" + json(bytes(request, api.requestHeaderVersion(version)))
        + ",\"response\":" + json(bytes(response, api.responseHeaderVersion(version))) + "}";
  }

  static void write(List<String> lines, String of, Message sample) throws Exception {
    for (short version = sample.lowestSupportedVersion(); version <= sample.highestSupportedVersion(); version++) {
      for (boolean full : new boolean[] {true, false}) {
        Message message = (Message) new Filler(version, full).struct(sample.getClass(), 0);
        byte[] bytes = bytes(message, version);
        Message back = (Message) newOf(sample.getClass());
        back.read(new ByteBufferAccessor(ByteBuffer.wrap(bytes)), version);
        lines.add("{\"of\":" + json(of) + ",\"version\":" + version + ",\"variant\":" + json(full ? "full" : "bare")
            + ",\"bytes\":" + json(bytes) + ",\"value\":" + json(back) + "}");
      }
    }
  }

  static byte[] bytes(Message message, short version) {
    ByteBuffer buffer = MessageUtil.toByteBufferAccessor(message, version).buffer();
    byte[] bytes = new byte[buffer.remaining()];
    buffer.get(bytes);
    return bytes;
  }

  static Object newOf(Class<?> type) throws Exception {
    Constructor<?> constructor = type.getDeclaredConstructor();
    constructor.setAccessible(true);
    return constructor.newInstance();
  }

  /** The fields of a message, without what the classes keep for themselves. */
  static List<Field> fieldsOf(Class<?> type) {
    List<Field> fields = new ArrayList<>();
    for (Field field : type.getDeclaredFields()) {
      String name = field.getName();
      if (Modifier.isStatic(field.getModifiers()) || name.startsWith("_") || name.equals("prev") || name.equals("next")) continue;
      field.setAccessible(true);
      fields.add(field);
    }
    return fields;
  }

  /** Gives every field that a version has a value that no other field of the message has; the same at every run. */
  static class Filler {
    static final long[] LONGS = {(1L << 53) - 1, -(1L << 53) + 1, 1L << 32, -(1L << 31), 0x1234567890L, Long.MAX_VALUE};
    static final int[] INTS = {Integer.MAX_VALUE, Integer.MIN_VALUE, 0x01020304, -2, 70_000, 5};
    static final String[] TEXTS = {"t", "é", "語", "😀"};
    final short version;
    final boolean full;
    int count = 0;

    Filler(short version, boolean full) {
      this.version = version;
      this.full = full;
    }

    Object struct(Class<?> type, int depth) throws Exception {
      Object message = newOf(type);
      Map<String, Field> fields = new HashMap<>();
      for (Field field : fieldsOf(type)) fields.put(field.getName().toLowerCase(), field);
      for (BoundField bound : ((Schema[]) type.getField("SCHEMAS").get(null))[version].fields()) {
        if (bound.def.type instanceof TaggedFields tagged) {
          if (!full) continue;
          for (var def : tagged.fields().values()) set(message, fields, def, depth, true);
        } else {
          set(message, fields, bound.def, depth, false);
        }
      }
      return message;
    }

    void set(Object message, Map<String, Field> fields, org.apache.kafka.common.protocol.types.Field def, int depth, boolean tagged)
        throws Exception {
      Field field = fields.get(def.name.replace("_", "").toLowerCase());
      field.set(message, value(field, def.type, depth, tagged));
    }

    Object value(Field field, Type type, int depth, boolean tagged) throws Exception {
      if (!full && type.isNullable()) return null;
      Class<?> into = field.getType();
      if (!type.isArray()) return single(into, tagged, depth);
      Class<?> element = elementOf(field);
      boolean structs = Message.class.isAssignableFrom(element);
      @SuppressWarnings("unchecked")
      Collection<Object> items = into == List.class ? new ArrayList<>() : (Collection<Object>) newOf(into);
      int length = structs ? (full && depth == 0 ? 2 : 1) : (full ? 2 : 0);
      for (int i = 0; i < length; i++) items.add(structs ? struct(element, depth + 1) : single(element, false, depth));
      return items;
    }

    static Class<?> elementOf(Field field) {
      java.lang.reflect.Type generic = field.getGenericType() instanceof ParameterizedType list
          ? list : field.getType().getGenericSuperclass();
      return (Class<?>) ((ParameterizedType) generic).getActualTypeArguments()[0];
    }

    Object single(Class<?> type, boolean tagged, int depth) throws Exception {
      int n = ++count;
      if (type == boolean.class) return tagged || n % 2 == 1;
      if (type == byte.class) return (byte) (n % 3 == 0 ? -n : n);
      if (type == short.class || type == Short.class) return (short) (n % 3 == 0 ? -n : 300 + n);
      if (type == int.class || type == Integer.class) return n % 2 == 0 ? n : INTS[n / 2 % INTS.length] ^ n;
      if (type == long.class || type == Long.class) return LONGS[n % LONGS.length];
      if (type == String.class) return full ? TEXTS[n % TEXTS.length] + n : "";
      if (type == Uuid.class) return new Uuid(0x0102030405060708L * n, -n);
      if (type == byte[].class) return blob(n);
      if (type == ByteBuffer.class) return ByteBuffer.wrap(blob(n));
      if (Message.class.isAssignableFrom(type)) return struct(type, depth + 1);
      return MemoryRecords.readableRecords(ByteBuffer.wrap(blob(n)));
    }

    byte[] blob(int n) {
      return full ? new byte[] {0, (byte) n, -1} : new byte[0];
    }
  }

  static String json(Object value) {
    if (value == null) return "null";
    if (value instanceof String text) return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
    if (value instanceof Uuid uuid) return json(uuid.toString());
    if (value instanceof byte[] bytes) return json(Base64.getEncoder().encodeToString(bytes));
    if (value instanceof MemoryRecords records) return json(records.buffer());
    if (value instanceof ByteBuffer buffer) {
      byte[] bytes = new byte[buffer.remaining()];
      buffer.duplicate().get(bytes);
      return json(bytes);
    }
    if (value instanceof Collection<?> items) {
      List<String> parts = new ArrayList<>();
      for (Object item : items) parts.add(json(item));
      return "[" + String.join(",", parts) + "]";
    }
    if (!(value instanceof Message)) return value.toString();
    List<String> parts = new ArrayList<>();
    try {
      for (Field field : fieldsOf(value.getClass())) parts.add(json(field.getName()) + ":" + json(field.get(value)));
    } catch (IllegalAccessException e) {
      throw new IllegalStateException(e);
    }
    return "{" + String.join(",", parts) + "}";
  }
}
