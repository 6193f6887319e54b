package trimtab.spark;

import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.SparkPlugin;

/**
 * What `spark.plugins=trimtab.spark.TrimtabPlugin` loads into the driver and into each executor. Nothing that fails in here reaches
 * the application: Spark then runs as if the plug-in were not there.
 */
public final class TrimtabPlugin implements SparkPlugin {
  @Override
  public DriverPlugin driverPlugin() {
    return new TrimtabDriver();
  }

  @Override
  public ExecutorPlugin executorPlugin() {
    return new TrimtabExecutor();
  }
}
