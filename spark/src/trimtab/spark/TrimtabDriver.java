package trimtab.spark;

import java.util.Map;
import org.apache.spark.SparkContext;
import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.PluginContext;

/** In the driver: what executors are told goes through the map that `init` returns. */
final class TrimtabDriver implements DriverPlugin {
  @Override
  public Map<String, String> init(SparkContext context, PluginContext plugin) {
    return Map.of("spark.version.minor", SparkVersion.minor(context));
  }
}
