package trimtab.spark;

import com.codahale.metrics.MetricRegistry;
import java.util.Map;
import org.apache.spark.SparkContext;
import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.PluginContext;

/**
 * In the driver: writes down, once a second, how many events Spark's listener bus has dropped. It adds no listener, so nothing of
 * it runs on the bus.
 */
final class TrimtabDriver implements DriverPlugin {
  private static final long PERIOD_MS = 1000;
  private volatile Thread watch;

  @Override
  public Map<String, String> init(SparkContext context, PluginContext plugin) {
    if (TaskTag.isReady()) {
      TaskTag.executor(-1);
      MetricRegistry bus = context.listenerBus().metrics().metricRegistry();
      watch = new Thread(() -> watch(bus), "trimtab");
      watch.setDaemon(true);
      watch.start();
    }
    return Map.of();
  }

  @Override
  public void shutdown() {
    Thread started = watch;
    if (started == null) return;
    started.interrupt();
    try {
      started.join(PERIOD_MS);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private static void watch(MetricRegistry bus) {
    boolean goesOn = true;
    while (goesOn) {
      try {
        Thread.sleep(PERIOD_MS);
      } catch (InterruptedException interrupted) {
        goesOn = false;
      }
      write(bus);
    }
  }

  private static void write(MetricRegistry bus) {
    long posted = 0;
    long dropped = 0;
    for (var counter : bus.getCounters().entrySet()) {
      if (counter.getKey().equals("numEventsPosted")) posted = counter.getValue().getCount();
      if (counter.getKey().endsWith(".numDroppedEvents")) dropped += counter.getValue().getCount();
    }
    TaskTag.listenerBus(posted, dropped);
  }
}
