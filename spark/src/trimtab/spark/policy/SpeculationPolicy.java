package trimtab.spark.policy;

import java.util.HashMap;
import java.util.Map;
import org.apache.spark.Success$;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.apache.spark.executor.TaskMetrics;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerStageCompleted;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Switches speculation on for all later stages as soon as one stage has shown that it pays, and off again if copies do not win.
 *
 * <p>Spark starts the thread that looks for slow tasks only if speculation is on when the application begins. But each set of tasks
 * reads anew which share of its tasks has to end before one is copied. So speculation is on from the beginning with a share of 1,
 * which copies nothing, and the policy sets that share.
 *
 * <p>It has a queue of the listener bus, and so a thread, of its own: all calls come from there.
 */
public final class SpeculationPolicy extends SparkListener {
  private static final Logger LOG = LoggerFactory.getLogger(SpeculationPolicy.class);
  private static final String QUEUE = "trimtabSpeculation";
  private static final String POLICY = "speculation";
  private static final String ENABLED = "spark.speculation";
  private static final String QUANTILE = "spark.speculation.quantile";
  private static final String MULTIPLIER = "spark.speculation.multiplier";
  private static final String NEVER = "1.0";
  // What Spark used before version 4: earlier than its present 0.9 and 3.
  private static final String USUAL_QUANTILE = "0.75";
  private static final String USUAL_MULTIPLIER = "1.5";

  /** Speculation is tried where it would have saved this share of a stage. */
  private static final double LEAST_SHARE = 0.2;

  /** And this time, ms: less is not worth a copy. */
  private static final long LEAST_MS = 500;

  /** This many copies show whether they win; if fewer than this share did, they only take slots. */
  private static final int COPIES = 4;

  private static final double LEAST_WINS = 0.25;

  private enum State {
    WATCHES,
    TRIES,
    KEEPS,
    GAVE_UP
  }

  private record StageAttempt(int stage, int attempt) {}

  private final SparkConf conf;
  private final SparkContext context;
  private final String quantile;
  private final String multiplier;
  private final Map<StageAttempt, StageTimes> stages = new HashMap<>();
  private State state = State.WATCHES;
  private String worst = "";
  private int copies;
  private int wins;

  private SpeculationPolicy(SparkContext context) {
    this.context = context;
    this.conf = context.conf();
    this.quantile = conf.get(QUANTILE, USUAL_QUANTILE);
    this.multiplier = conf.get(MULTIPLIER, USUAL_MULTIPLIER);
  }

  /** Before the scheduler is made, which reads the settings. */
  static void start(SparkContext context) {
    SparkConf conf = context.conf();
    if (conf.contains(ENABLED)) {
      LOG.info("Trimtab: {}={} was set by you, so it is left as it is", ENABLED, conf.get(ENABLED));
      return;
    }
    if (context.isLocal()) {
      LOG.info("Trimtab: no speculation: Spark does not copy tasks in local mode");
      return;
    }
    SpeculationPolicy policy = new SpeculationPolicy(context);
    conf.set(ENABLED, "true");
    conf.set(QUANTILE, NEVER);
    conf.set(MULTIPLIER, policy.multiplier);
    context.listenerBus().addToQueue(policy, QUEUE);
  }

  @Override
  public void onTaskEnd(SparkListenerTaskEnd end) {
    var info = end.taskInfo();
    boolean hasSucceeded = end.reason() == Success$.MODULE$;
    if (info.speculative()) {
      copies++;
      if (hasSucceeded) wins++;
      judgeCopies();
    } else if (hasSucceeded && state == State.WATCHES) {
      var times = stages.computeIfAbsent(new StageAttempt(end.stageId(), end.stageAttemptId()), stage -> new StageTimes());
      times.add(new StageTimes.Task(info.launchTime(), info.finishTime(), bytesRead(end.taskMetrics())));
    }
  }

  private static long bytesRead(TaskMetrics metrics) {
    if (metrics == null) return 0;
    return metrics.inputMetrics().bytesRead() + metrics.shuffleReadMetrics().totalBytesRead();
  }

  @Override
  public void onStageCompleted(SparkListenerStageCompleted completed) {
    var stage = completed.stageInfo();
    StageTimes times = stages.remove(new StageAttempt(stage.stageId(), stage.attemptNumber()));
    if (times == null || state != State.WATCHES) return;
    var prediction = times.withSpeculation(Double.parseDouble(quantile), Double.parseDouble(multiplier));
    if (prediction.saved() < LEAST_MS || prediction.savedShare() < LEAST_SHARE) return;
    state = State.TRIES;
    stages.clear();
    worst = stage.name();
    change(
        "trial",
        quantile,
        "a task took " + prediction.longest() + " ms where the median is " + prediction.median()
            + " ms: with copies of slow tasks the stage would have ended " + prediction.saved() + " ms earlier",
        Map.of("saved_s", prediction.saved() * 1e-3, "stage_s", prediction.stage() * 1e-3));
  }

  private void judgeCopies() {
    if (copies < COPIES || (state != State.TRIES && state != State.KEEPS)) return;
    boolean isWorthIt = wins >= LEAST_WINS * copies;
    String reason = wins + " of " + copies + " copies ended before the task that they copied";
    Map<String, Double> evidence = Map.of("copies", (double) copies, "wins", (double) wins);
    if (!isWorthIt) {
      state = State.GAVE_UP;
      change("undone", NEVER, reason, evidence);
    } else if (state == State.TRIES) {
      state = State.KEEPS;
      change("kept", quantile, reason, evidence);
    }
    copies = 0;
    wins = 0;
  }

  private void change(String outcome, String after, String reason, Map<String, Double> evidence) {
    String before = outcome.equals("kept") ? NEVER : conf.get(QUANTILE);
    conf.set(QUANTILE, after);
    LOG.info("Trimtab: {}: {}={}: {}", worst, QUANTILE, after, reason);
    context.listenerBus().post(
        new PolicyDecision(POLICY, worst, outcome, reason, Map.of(QUANTILE, before), Map.of(QUANTILE, after), evidence));
  }
}
