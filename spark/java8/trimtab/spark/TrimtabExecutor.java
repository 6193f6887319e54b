package trimtab.spark;

import java.util.Map;
import org.apache.spark.TaskContext;
import org.apache.spark.TaskFailedReason;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.PluginContext;

/** In each executor. Spark calls onTaskStart and its like on the thread that runs the task. */
final class TrimtabExecutor implements ExecutorPlugin {
  @Override
  public void init(PluginContext plugin, Map<String, String> fromDriver) {
    String id = plugin.executorID();
    if (TaskTag.isReady()) {
      TaskTag.executor(id.matches("\\d{1,9}") ? Integer.parseInt(id) : -1);
    } else {
      System.err.println("trimtab: executor " + id + ": calls on files are not counted: it was not started under trimtab run");
    }
  }

  @Override
  public void onTaskStart() {
    TaskContext task = TaskContext.get();
    if (task != null && TaskTag.isReady()) TaskTag.begin(task.stageId(), task.stageAttemptNumber());
  }

  @Override
  public void onTaskSucceeded() {
    end();
  }

  @Override
  public void onTaskFailed(TaskFailedReason reason) {
    end();
  }

  private static void end() {
    if (TaskTag.isReady()) TaskTag.end();
  }
}
