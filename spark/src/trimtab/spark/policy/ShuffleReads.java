package trimtab.spark.policy;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.ObjIntConsumer;
import org.apache.spark.Dependency;
import org.apache.spark.MapOutputTrackerMaster;
import org.apache.spark.ShuffleDependency;
import org.apache.spark.SparkEnv;
import org.apache.spark.rdd.RDD;
import org.apache.spark.rdd.ShuffledRDD;
import org.apache.spark.storage.StorageLevel;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Which results of shuffles the stages of a job will compute, and in how many stages.
 *
 * <p>A stage is the RDDs that are reached without a shuffle. Stages whose output is there are skipped by Spark, and what lies behind a
 * persisted RDD is not computed.
 */
final class ShuffleReads {
  private static final String BUFFER_OF_GROUPS = "org.apache.spark.util.collection.CompactBuffer";

  private final Map<ShuffledRDD<?, ?, ?>, Integer> reads = new LinkedHashMap<>();
  private final Set<Integer> shuffles = new HashSet<>();
  private final Deque<RDD<?>> stages = new ArrayDeque<>();

  /** Walks in loops: the lineage of an iterative program can be too deep for recursion. */
  ShuffleReads(RDD<?> last) {
    stages.add(last);
    while (!stages.isEmpty()) readStage(stages.poll());
  }

  void forEachRead(ObjIntConsumer<ShuffledRDD<?, ?, ?>> action) {
    reads.forEach(action::accept);
  }

  private void readStage(RDD<?> last) {
    Set<Integer> seen = new HashSet<>();
    Deque<RDD<?>> open = new ArrayDeque<>();
    open.add(last);
    while (!open.isEmpty()) {
      RDD<?> rdd = open.poll();
      if (!seen.add(rdd.id()) || !rdd.getStorageLevel().equals(StorageLevel.NONE())) continue;
      for (Dependency<?> dependency : CollectionConverters.asJava(rdd.dependencies())) {
        if (dependency instanceof ShuffleDependency<?, ?, ?> shuffle) {
          if (rdd instanceof ShuffledRDD<?, ?, ?> result && isWorthKeeping(shuffle)) reads.merge(result, 1, Integer::sum);
          if (shuffles.add(shuffle.shuffleId()) && !isWritten(shuffle)) stages.add(shuffle.rdd());
        } else {
          open.add(dependency.rdd());
        }
      }
    }
  }

  private static boolean isWritten(ShuffleDependency<?, ?, ?> shuffle) {
    var tracker = (MapOutputTrackerMaster) SparkEnv.get().mapOutputTracker();
    return tracker.getNumAvailableOutputs(shuffle.shuffleId()) == shuffle.rdd().getNumPartitions();
  }

  /**
   * Whether reading combines or sorts, and whether its result can surely be written: what has gone through a shuffle can, and the
   * groups of groupByKey; other results of combining may not be serializable.
   */
  private static boolean isWorthKeeping(ShuffleDependency<?, ?, ?> shuffle) {
    if (shuffle.aggregator().isEmpty()) return shuffle.keyOrdering().isDefined();
    return shuffle.mapSideCombine() || shuffle.combinerClassName().contains(BUFFER_OF_GROUPS);
  }
}
