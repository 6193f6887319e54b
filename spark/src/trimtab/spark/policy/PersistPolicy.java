package trimtab.spark.policy;

import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.spark.SparkContext;
import org.apache.spark.rdd.RDD;
import org.apache.spark.rdd.ShuffledRDD;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerJobStart;
import org.apache.spark.storage.StorageLevel;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Persists what is computed from a shuffle on disk, when it is to be computed for the third time.
 *
 * <p>The shuffle itself is on disk already. What is saved is fetching it and combining or sorting its records again, which with
 * little memory spills each time. Decided when a job begins, so that its later stages and all later jobs have it.
 *
 * <p>It has a queue of the listener bus, and so a thread, of its own: all calls come from there. Spark allows persist from any thread.
 */
public final class PersistPolicy extends SparkListener {
  private static final Logger LOG = LoggerFactory.getLogger(PersistPolicy.class);
  private static final String QUEUE = "trimtabPersist";
  private static final int THIRD = 3;
  private static final int MOST_RDDS = 10_000;

  private final SparkContext context;
  private final Map<Integer, Integer> reads =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Integer, Integer> eldest) {
          return size() > MOST_RDDS;
        }
      };

  private PersistPolicy(SparkContext context) {
    this.context = context;
  }

  static void start(SparkContext context) {
    context.listenerBus().addToQueue(new PersistPolicy(context), QUEUE);
  }

  /** Errors are caught here: in a listener Spark takes some of them for a reason to stop the application. */
  @Override
  public void onJobStart(SparkListenerJobStart start) {
    try {
      var job = context.dagScheduler().jobIdToActiveJob().get(start.jobId());
      if (job.isDefined()) new ShuffleReads(job.get().finalStage().rdd()).forEachRead(this::count);
    } catch (RuntimeException | LinkageError failure) {
      LOG.debug("Trimtab: job {} is not looked at", start.jobId(), failure);
    }
  }

  private void count(ShuffledRDD<?, ?, ?> rdd, int times) {
    int sum = reads.merge(rdd.id(), times, Integer::sum);
    if (sum < THIRD || !rdd.getStorageLevel().equals(StorageLevel.NONE())) return;
    rdd.persist(StorageLevel.DISK_ONLY());
    String subject = nameOf(rdd);
    String reason = "with this job it is computed from its shuffle " + sum + " times";
    LOG.info("Trimtab: {} is persisted on disk: {}", subject, reason);
    context.listenerBus().post(
        new PolicyDecision(
            "persist",
            subject,
            "set",
            reason,
            Map.of("storage level", "none"),
            Map.of("storage level", "disk"),
            Map.of("reads", (double) sum, "partitions", (double) rdd.getNumPartitions())));
  }

  private static String nameOf(RDD<?> rdd) {
    return "RDD " + rdd.id() + ": " + rdd.creationSite().shortForm();
  }
}
