import io.confluent.parallelconsumer.ParallelConsumerOptions;
import io.confluent.parallelconsumer.ParallelConsumerOptions.ProcessingOrder;
import io.confluent.parallelconsumer.ParallelStreamProcessor;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.StringDeserializer;

/** Handles the records of a topic, 100 at once, in the order of their keys; prints the time and the CPU time in seconds. */
final class Peer {
    private record Moment(long time, long cpu) {
        static Moment now() {
            var system = (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
            return new Moment(System.nanoTime(), system.getProcessCpuTime());
        }
    }

    /** BROKER TOPIC COUNT SLEEP-MS COMPUTE-US */
    public static void main(String[] words) throws Exception {
        long count = Long.parseLong(words[2]);
        long sleep = Long.parseLong(words[3]);
        long compute = Long.parseLong(words[4]) * 1_000;
        var settings = new Properties();
        settings.put("bootstrap.servers", words[0]);
        settings.put("group.id", "parallel-consumer-" + System.nanoTime());
        settings.put("enable.auto.commit", "false");
        settings.put("auto.offset.reset", "earliest");
        // Arrays of bytes are no keys there: two equal ones differ.
        var consumer = new KafkaConsumer<>(settings, new StringDeserializer(), new ByteArrayDeserializer());
        var options = ParallelConsumerOptions.<String, byte[]>builder()
                .ordering(ProcessingOrder.KEY)
                .maxConcurrency(100)
                .consumer(consumer)
                .build();
        var processor = ParallelStreamProcessor.createEosStreamProcessor(options);
        processor.subscribe(List.of(words[1]));
        var first = new AtomicReference<Moment>();
        var done = new AtomicLong();
        var isOver = new CountDownLatch(1);
        processor.poll(record -> {
            if (first.get() == null) {
                first.compareAndSet(null, Moment.now());
            }
            if (sleep > 0) {
                try {
                    Thread.sleep(sleep);
                } catch (InterruptedException error) {
                    throw new IllegalStateException(error);
                }
            }
            long end = System.nanoTime() + compute;
            while (System.nanoTime() < end) {
                Thread.onSpinWait();
            }
            if (done.incrementAndGet() == count) {
                isOver.countDown();
            }
        });
        isOver.await();
        var last = Moment.now();
        System.out.println((last.time - first.get().time) / 1e9 + " " + (last.cpu - first.get().cpu) / 1e9);
        processor.close();
    }
}
