package trimtab.spark.policy;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.ToLongFunction;

/** The tasks of one attempt of a stage that have succeeded, and what copies of slow tasks would have given. */
final class StageTimes {
  /** With fewer tasks a median says little. */
  private static final int LEAST_TASKS = 4;

  /** A task with more than this many times the median of data is slow because of its data: its copy would be, too. */
  private static final int SKEW = 2;

  /** How often Spark looks for tasks to copy (spark.speculation.interval), and which tasks it leaves alone as too short, ms. */
  private static final long INTERVAL_MS = 100;

  private final List<Task> tasks = new ArrayList<>();

  /** One successful attempt; times in ms by the driver's clock. */
  record Task(long launch, long finish, long bytes) {
    long duration() {
      return finish - launch;
    }
  }

  /** Of a whole stage, ms. */
  record Prediction(long stage, long saved, long median, long longest) {
    double savedShare() {
      return stage > 0 ? (double) saved / stage : 0;
    }
  }

  void add(Task task) {
    tasks.add(task);
  }

  /**
   * How much earlier the stage would have ended with speculation.
   *
   * <p>A task is copied when a share of all tasks has ended and it has run longer than some times the median; the copy takes the
   * median. Free slots are not looked at: when most tasks have ended there are some.
   *
   * @param quantile this share of the tasks has to end first
   * @param multiplier this many times the median
   */
  Prediction withSpeculation(double quantile, double multiplier) {
    if (tasks.size() < LEAST_TASKS) return new Prediction(0, 0, 0, 0);
    long begin = tasks.stream().mapToLong(Task::launch).min().orElseThrow();
    long median = middle(Task::duration);
    long bytes = middle(Task::bytes);
    long[] ends = sorted(Task::finish);
    long firstCheck = ends[Math.max((int) Math.floor(quantile * ends.length), 1) - 1];
    long wait = Math.max((long) (multiplier * median), INTERVAL_MS) + INTERVAL_MS;
    long end = begin;
    for (Task task : tasks) {
      boolean isSkewed = task.bytes > SKEW * bytes;
      long ofCopy = Math.max(task.launch + wait, firstCheck) + median;
      end = Math.max(end, isSkewed ? task.finish : Math.min(task.finish, ofCopy));
    }
    long last = ends[ends.length - 1];
    long longest = tasks.stream().mapToLong(Task::duration).max().orElseThrow();
    return new Prediction(last - begin, last - end, median, longest);
  }

  private long middle(ToLongFunction<Task> value) {
    long[] values = sorted(value);
    return values[values.length / 2];
  }

  private long[] sorted(ToLongFunction<Task> value) {
    long[] values = tasks.stream().mapToLong(value).toArray();
    Arrays.sort(values);
    return values;
  }
}
