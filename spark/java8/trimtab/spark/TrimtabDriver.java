package trimtab.spark;

import com.codahale.metrics.Counter;
import com.codahale.metrics.MetricRegistry;
import java.util.Collections;
import java.util.Map;
import org.apache.spark.SparkContext;
import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.PluginContext;
import trimtab.spark.policy.Policies;

/**
 * In the driver: sends the plug-in to executors that lack it, starts the policies that the user has consented to, and writes down,
 * once a second, how many events Spark's listener bus has dropped. Nothing of it runs on the threads of the bus that Spark's own
 * listeners use.
 */
final class TrimtabDriver implements DriverPlugin {
  private static final long PERIOD_MS = 1000;
  private volatile Thread watch;

  @Override
  public Map<String, String> init(SparkContext context, PluginContext plugin) {
    ShippedJar.send(context);
    Policies.start(context);
    if (TaskTag.isReady()) {
      TaskTag.executor(-1);
      MetricRegistry bus = context.listenerBus().metrics().metricRegistry();
      watch = new Thread(() -> watch(bus), "trimtab");
      watch.setDaemon(true);
      watch.start();
    }
    return Collections.emptyMap();
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
    for (Map.Entry<String, Counter> counter : bus.getCounters().entrySet()) {
      if (counter.getKey().equals("numEventsPosted")) posted = counter.getValue().getCount();
      if (counter.getKey().endsWith(".numDroppedEvents")) dropped += counter.getValue().getCount();
    }
    TaskTag.listenerBus(posted, dropped);
  }
}
