import io.confluent.parallelconsumer.ParallelConsumerOptions;
import io.confluent.parallelconsumer.ParallelConsumerOptions.ProcessingOrder;
import io.confluent.parallelconsumer.ParallelStreamProcessor;
import java.io.PrintStream;
import java.util.List;
import java.util.Properties;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.StringDeserializer;

/** A member of a group that says the partition of each record which it has handled, until its input ends. */
final class GroupPeer {
    /** BROKER TOPIC SESSION-MS HEARTBEAT-MS */
    public static void main(String[] words) throws Exception {
        var settings = new Properties();
        settings.put("bootstrap.servers", words[0]);
        settings.put("group.id", "parallel-consumer");
        settings.put("session.timeout.ms", words[2]);
        settings.put("heartbeat.interval.ms", words[3]);
        settings.put("partition.assignment.strategy", CooperativeStickyAssignor.class.getName());
        settings.put("enable.auto.commit", "false");
        settings.put("auto.offset.reset", "earliest");
        var consumer = new KafkaConsumer<>(settings, new StringDeserializer(), new ByteArrayDeserializer());
        var options = ParallelConsumerOptions.<String, byte[]>builder()
                .ordering(ProcessingOrder.KEY)
                .maxConcurrency(100)
                .consumer(consumer)
                .build();
        var processor = ParallelStreamProcessor.createEosStreamProcessor(options);
        processor.subscribe(List.of(words[1]));
        PrintStream output = System.out;
        processor.poll(record -> output.println(record.getSingleConsumerRecord().partition()));
        while (System.in.read() != -1) {
        }
        processor.close();
    }
}
