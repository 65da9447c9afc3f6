// Prints Kafka's error table, a line per error: number, name, and whether the Java client takes it for retriable.

import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.protocol.Errors;

public class KafkaErrors {
  public static void main(String[] args) {
    for (Errors error : Errors.values()) {
      System.out.println(error.code() + " " + error.name() + " " + (error.exception() instanceof RetriableException));
    }
  }
}
