package trimtab.spark.policy;

/** Checks of the prediction without Spark: prints the name of each check that holds. */
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
