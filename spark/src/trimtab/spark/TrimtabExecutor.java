package trimtab.spark;

import java.util.Map;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.PluginContext;

/** In each executor; onTaskStart and its like are called on the thread that runs the task. */
final class TrimtabExecutor implements ExecutorPlugin {
  @Override
  public void init(PluginContext plugin, Map<String, String> fromDriver) {}
}
