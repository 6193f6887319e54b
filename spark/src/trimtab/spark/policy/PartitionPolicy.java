package trimtab.spark.policy;

import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.apache.spark.SparkContext;
import org.apache.spark.Success$;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerEvent;
import org.apache.spark.scheduler.SparkListenerStageSubmitted;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.sql.classic.SparkSession$;
import org.apache.spark.sql.execution.SparkPlanInfo;
import org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionEnd;
import org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Sets the number of partitions of the shuffles of later queries, after what the worst stage of a query that repeats has shown, and
 * takes it back unless queries get faster ({@link PartitionTrial}).
 *
 * <p>Spark reads the setting when it plans a query. So a query that is planned while the one before it is still being looked at has the
 * old number; which one it had is in its event, and nothing is concluded from a number that is neither.
 *
 * <p>It has a queue of the listener bus, and so a thread, of its own: all calls come from there. A session's settings may be changed by
 * any thread.
 */
public final class PartitionPolicy extends SparkListener {
  private static final Logger LOG = LoggerFactory.getLogger(PartitionPolicy.class);
  private static final String QUEUE = "trimtabPartitions";
  private static final String PARTITIONS = "spark.sql.shuffle.partitions";
  private static final String EXECUTION = "spark.sql.execution.id";
  private static final int DEFAULT = 200;

  /** A query that runs, and its stages by number. */
  private record Query(String place, String key, int partitions, long begin, Map<Integer, StageLoad> stages) {}

  private final SparkContext context;
  private final PartitionTrial trial = new PartitionTrial(DEFAULT);
  private final Map<Long, Query> queries = new HashMap<>();
  private final Map<Integer, Query> byStage = new HashMap<>();

  private PartitionPolicy(SparkContext context) {
    this.context = context;
  }

  static void start(SparkContext context) {
    if (context.conf().contains(PARTITIONS)) {
      LOG.info("Trimtab: {}={} was set by you, so it is left as it is", PARTITIONS, context.conf().get(PARTITIONS));
      return;
    }
    context.listenerBus().addToQueue(new PartitionPolicy(context), QUEUE);
  }

  /** Errors are caught here: in a listener Spark takes some of them for a reason to stop the application. */
  @Override
  public void onOtherEvent(SparkListenerEvent event) {
    if (trial.isOver()) return;
    try {
      if (event instanceof SparkListenerSQLExecutionStart start) begin(start);
      if (event instanceof SparkListenerSQLExecutionEnd end) end(end);
    } catch (RuntimeException | LinkageError failure) {
      LOG.warn("Trimtab: partitions are not decided about any more: {}", failure.toString());
      restore();
    }
  }

  @Override
  public void onStageSubmitted(SparkListenerStageSubmitted submitted) {
    String execution = submitted.properties() == null ? null : submitted.properties().getProperty(EXECUTION);
    Query query = execution == null ? null : queries.get(Long.parseLong(execution));
    if (query == null || submitted.stageInfo().numTasks() != query.partitions) return;
    query.stages.put(submitted.stageInfo().stageId(), new StageLoad());
    byStage.put(submitted.stageInfo().stageId(), query);
  }

  @Override
  public void onTaskEnd(SparkListenerTaskEnd end) {
    Query query = byStage.get(end.stageId());
    if (query == null || end.reason() != Success$.MODULE$ || end.taskMetrics() == null) return;
    var metrics = end.taskMetrics();
    query.stages.get(end.stageId()).add(end.taskInfo().duration(), metrics.executorRunTime(), metrics.diskBytesSpilled());
  }

  private void begin(SparkListenerSQLExecutionStart start) {
    boolean isInner = start.rootExecutionId().isDefined() && (Long) start.rootExecutionId().get() != start.executionId();
    if (isInner) return;
    var partitions = start.modifiedConfigs().get(PARTITIONS);
    int number = partitions.isDefined() ? Integer.parseInt(partitions.get()) : DEFAULT;
    // Programs may describe all their queries with the same words; then their plans distinguish them.
    String key = start.description() + " #" + shapeOf(start.sparkPlanInfo());
    queries.put(start.executionId(), new Query(start.description(), key, number, start.time(), new HashMap<>()));
  }

  private static int shapeOf(SparkPlanInfo plan) {
    int shape = plan.nodeName().hashCode();
    for (SparkPlanInfo child : CollectionConverters.asJava(plan.children())) shape = 31 * shape + shapeOf(child);
    return shape;
  }

  private void end(SparkListenerSQLExecutionEnd end) {
    Query query = queries.remove(end.executionId());
    if (query == null) return;
    byStage.keySet().removeAll(query.stages.keySet());
    int wanted = trial.wanted();
    if (end.errorMessage().isDefined() && !end.errorMessage().get().isEmpty()) {
      trial.failed(query.partitions).ifPresent(change -> apply(change, wanted, query.place));
      return;
    }
    if (query.stages.isEmpty()) return;
    var worst = query.stages.values().stream().max(Comparator.comparingLong(StageLoad::total));
    var proposal = worst.flatMap(stage -> stage.proposal(Math.max(context.defaultParallelism(), 1)));
    Optional<PartitionTrial.Step> step = trial.ended(query.key, query.partitions, end.time() - query.begin, proposal);
    step.ifPresent(change -> apply(change, wanted, query.place));
  }

  private void restore() {
    int tried = trial.wanted();
    trial.giveUp();
    var session = SparkSession$.MODULE$.getDefaultSession();
    if (session.isEmpty() || tried == trial.wanted()) return;
    var conf = session.get().conf();
    if (conf.get(PARTITIONS).equals(Integer.toString(tried))) conf.set(PARTITIONS, Integer.toString(trial.wanted()));
  }

  /** Unless the program has set a number of its own in the meantime: then that stays, and nothing is decided any more. */
  private void apply(PartitionTrial.Step step, int expected, String place) {
    var session = SparkSession$.MODULE$.getDefaultSession();
    if (session.isEmpty()) return;
    var conf = session.get().conf();
    if (Integer.parseInt(conf.get(PARTITIONS)) != expected) {
      LOG.info("Trimtab: {} was set by the program, so it is left as it is", PARTITIONS);
      trial.giveUp();
      return;
    }
    conf.set(PARTITIONS, Integer.toString(trial.wanted()));
    LOG.info("Trimtab: {}: {}={}: {}", place, PARTITIONS, trial.wanted(), step.reason());
    context.listenerBus().post(
        new PolicyDecision(
            "partitions",
            place,
            step.outcome(),
            step.reason(),
            Map.of(PARTITIONS, Integer.toString(step.from())),
            Map.of(PARTITIONS, Integer.toString(step.to())),
            step.evidence()));
  }
}
