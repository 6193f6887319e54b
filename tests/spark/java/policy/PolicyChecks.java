package trimtab.spark.policy;

import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;

/** Checks of the predictions and of the trial of partitions without Spark: prints the name of each check that holds. */
public final class PolicyChecks {
  private static final double QUANTILE = 0.75;
  private static final double MULTIPLIER = 1.5;

  private PolicyChecks() {}

  public static void main(String[] arguments) {
    fewTasksSayNothing();
    evenTasksGainNothing();
    aSlowTaskEndsWithItsCopy();
    noCopyBeforeMostTasksHaveEnded();
    muchDataIsSlowInACopyToo();
    smallTasksCallForFewerPartitions();
    spillsCallForMorePartitions();
    fewTasksCallForMorePartitions();
    busyTasksCallForNothing();
    partitionsThatHelpAreKept();
    partitionsThatDoNotHelpAreUndone();
    whatGetsFasterByItselfIsNoGain();
    otherQueriesCountToo();
    aQueryThatFailsEndsTheTrial();
    otherNumbersThanOursCountForNothing();
    onlyThreeTrialsMayFail();
  }

  private static void smallTasksCallForFewerPartitions() {
    expect("smallTasksCallForFewerPartitions", partitions(load(200, 10, 5, 0)), 6);
  }

  private static void spillsCallForMorePartitions() {
    expect("spillsCallForMorePartitions", partitions(load(200, 1000, 999, 1)), 400);
  }

  private static void fewTasksCallForMorePartitions() {
    expect("fewTasksCallForMorePartitions", partitions(load(1, 5000, 4990, 0)), 6);
  }

  private static void busyTasksCallForNothing() {
    expect("busyTasksCallForNothing", load(200, 100, 95, 0).proposal(2).isEmpty(), true);
    if (load(6, 10, 1, 0).proposal(2).isPresent()) throw new AssertionError("as many as are proposed");
    if (load(1, 5, 5, 0).proposal(2).isPresent()) throw new AssertionError("too short to be worth a trial");
  }

  private static void partitionsThatHelpAreKept() {
    PartitionTrial trial = new PartitionTrial(200);
    expect("partitionsThatHelpAreKept", outcomes(trial, "q", 9000, 1000, 1000, 400, 400, 1000), "trial trial kept");
    if (trial.wanted() != 6) throw new AssertionError("wanted " + trial.wanted());
  }

  private static void partitionsThatDoNotHelpAreUndone() {
    PartitionTrial trial = new PartitionTrial(200);
    expect("partitionsThatDoNotHelpAreUndone", outcomes(trial, "q", 9000, 1000, 1000, 990, 990, 1000, 1000), "trial trial undone");
    if (trial.wanted() != 200) throw new AssertionError("wanted " + trial.wanted());
  }

  /** As code does that is compiled while it runs: the run after the new number is as fast with the old one. */
  private static void whatGetsFasterByItselfIsNoGain() {
    PartitionTrial trial = new PartitionTrial(200);
    expect("whatGetsFasterByItselfIsNoGain", outcomes(trial, "q", 9000, 1000, 900, 700, 600, 600), "trial trial undone");
  }

  /** It takes 400 ms instead of 1,000, the other query 3,000 instead of 1,000. */
  private static void otherQueriesCountToo() {
    PartitionTrial trial = new PartitionTrial(200);
    for (int run = 0; run < 3; run++) trial.ended("other", 200, 1000, Optional.empty());
    outcomes(trial, "q", 9000, 1000, 1000);
    trial.ended("other", 6, 3000, Optional.empty());
    expect("otherQueriesCountToo", outcomes(trial, "q", 400, 400, 1000), "trial undone");
  }

  private static void aQueryThatFailsEndsTheTrial() {
    PartitionTrial trial = new PartitionTrial(200);
    outcomes(trial, "q", 9000, 1000, 1000);
    if (trial.failed(200).isPresent()) throw new AssertionError("that one had the old number");
    expect("aQueryThatFailsEndsTheTrial", trial.failed(6).orElseThrow().outcome(), "undone");
    if (trial.wanted() != 200 || !trial.isOver()) throw new AssertionError("wanted " + trial.wanted());
  }

  /** A session that has a number of its own, or a query that was planned before the change. */
  private static void otherNumbersThanOursCountForNothing() {
    PartitionTrial trial = new PartitionTrial(200);
    for (int run = 0; run < 9; run++) {
      if (trial.ended("q", 50, 1000, PROPOSAL).isPresent()) throw new AssertionError("not ours");
    }
    outcomes(trial, "r", 9000, 1000, 1000);
    for (int run = 0; run < 9; run++) {
      if (trial.ended("r", 200, 1000, PROPOSAL).isPresent()) throw new AssertionError("planned before");
    }
    expect("otherNumbersThanOursCountForNothing", trial.wanted(), 6);
  }

  private static void onlyThreeTrialsMayFail() {
    PartitionTrial trial = new PartitionTrial(200);
    trial.ended("q", 200, 1000, Optional.empty());
    long undone = 0;
    for (int run = 0; run < 100; run++) {
      var other = Optional.of(new PartitionTrial.Proposal(201 + run, "seen", Map.of()));
      undone += trial.ended("q", trial.wanted(), 1000, other).filter(step -> step.outcome().equals("undone")).stream().count();
    }
    expect("onlyThreeTrialsMayFail", undone, 3L);
  }

  private static final Optional<PartitionTrial.Proposal> PROPOSAL =
      Optional.of(new PartitionTrial.Proposal(6, "seen", Map.of()));

  /** What is decided after runs of a query of these milliseconds, each with the number that is wanted then. */
  private static String outcomes(PartitionTrial trial, String query, long... times) {
    StringBuilder outcomes = new StringBuilder();
    for (long time : times) {
      trial.ended(query, trial.wanted(), time, PROPOSAL).ifPresent(step -> outcomes.append(' ').append(step.outcome()));
    }
    return outcomes.toString().strip();
  }

  private static StageLoad load(int tasks, long duration, long run, long spilled) {
    StageLoad load = new StageLoad();
    IntStream.range(0, tasks).forEach(task -> load.add(duration, run, spilled));
    return load;
  }

  private static int partitions(StageLoad load) {
    return load.proposal(2).orElseThrow().partitions();
  }

  private static void fewTasksSayNothing() {
    expect("fewTasksSayNothing", stage(0, 100, 100, 9000).withSpeculation(QUANTILE, MULTIPLIER).saved(), 0L);
  }

  private static void evenTasksGainNothing() {
    expect("evenTasksGainNothing", stage(0, 1000, 1010, 990, 1000).withSpeculation(QUANTILE, MULTIPLIER).saved(), 0L);
  }

  /** Of 1,000 ms each and one of 9,000: copied after 1.5 medians and an interval, and a median later it ends. */
  private static void aSlowTaskEndsWithItsCopy() {
    var prediction = stage(0, 1000, 1000, 1000, 9000).withSpeculation(QUANTILE, MULTIPLIER);
    expect("aSlowTaskEndsWithItsCopy", prediction, new StageTimes.Prediction(9000, 9000 - 2600, 1000, 9000));
  }

  /** A second wave ends at 8,000 ms: until then less than the share of the tasks has ended. */
  private static void noCopyBeforeMostTasksHaveEnded() {
    StageTimes times = stage(0, 1000, 9000);
    for (int wave = 0; wave < 2; wave++) times.add(new StageTimes.Task(7000, 8000, 0));
    expect("noCopyBeforeMostTasksHaveEnded", times.withSpeculation(QUANTILE, MULTIPLIER).saved(), 0L);
  }

  private static void muchDataIsSlowInACopyToo() {
    StageTimes times = new StageTimes();
    for (int task = 0; task < 5; task++) times.add(new StageTimes.Task(0, 1000, 100));
    times.add(new StageTimes.Task(0, 9000, 201));
    expect("muchDataIsSlowInACopyToo", times.withSpeculation(QUANTILE, MULTIPLIER).saved(), 0L);
  }

  private static StageTimes stage(long launch, long... durations) {
    StageTimes times = new StageTimes();
    for (long duration : durations) times.add(new StageTimes.Task(launch, launch + duration, 0));
    return times;
  }

  private static void expect(String check, Object answer, Object expected) {
    if (!answer.equals(expected)) throw new AssertionError(check + ": expected " + expected + ", found " + answer);
    System.out.println(check);
  }
}
