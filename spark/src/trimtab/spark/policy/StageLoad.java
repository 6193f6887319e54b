package trimtab.spark.policy;

import java.util.Map;
import java.util.Optional;

/** What the tasks of one stage took, and which number of partitions they call for. */
final class StageLoad {
  /** Starting tasks takes more than this share of their time ... */
  private static final double OVERHEAD_SHARE = 0.2;

  /** ... and they are shorter than this, ms: the same limits as in the finding of reports. */
  private static final long SMALL_TASK_MS = 200;

  /** Spark's own advice is two to three tasks for each core slot. */
  private static final int PER_SLOT = 3;

  /** Slots that have nothing to do for less than this, ms, are not worth a trial. */
  private static final long LEAST_MS = 200;

  private static final int MOST_PARTITIONS = 20_000;

  private int tasks;
  private long total;
  private long running;
  private long spilled;

  /** One task that has succeeded; ms on its slot, ms of these in the program's code, bytes written to disk for want of memory. */
  void add(long duration, long run, long spilledBytes) {
    tasks++;
    total += duration;
    running += Math.min(run, duration);
    spilled += spilledBytes;
  }

  int tasks() {
    return tasks;
  }

  /** Core time, ms. */
  long total() {
    return total;
  }

  /** Another number of partitions that this stage calls for. */
  Optional<PartitionTrial.Proposal> proposal(int slots) {
    int few = PER_SLOT * slots;
    if (tasks == 0) return Optional.empty();
    double overhead = (double) (total - running) / Math.max(total, 1);
    if (spilled > 0) {
      return proposal(2 * tasks, "tasks had too little memory and wrote " + spilled + " bytes to disk", "spilled_bytes", spilled);
    }
    if (tasks > few && overhead > OVERHEAD_SHARE && total < SMALL_TASK_MS * tasks) {
      return proposal(few, "starting " + tasks + " tasks took " + Math.round(100 * overhead) + " % of their time", "overhead_share", overhead);
    }
    if (tasks < slots && total >= LEAST_MS * tasks) {
      return proposal(few, "there were " + tasks + " tasks for " + slots + " core slots", "slots", slots);
    }
    return Optional.empty();
  }

  private Optional<PartitionTrial.Proposal> proposal(int partitions, String reason, String name, double value) {
    Map<String, Double> evidence = Map.of("tasks", (double) tasks, "core_time_s", total * 1e-3, name, value);
    return partitions > MOST_PARTITIONS
        ? Optional.empty()
        : Optional.of(new PartitionTrial.Proposal(partitions, reason, evidence));
  }
}
