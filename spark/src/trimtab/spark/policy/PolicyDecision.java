package trimtab.spark.policy;

import java.util.Map;
import org.apache.spark.scheduler.SparkListenerEvent;

/**
 * What a policy has changed while the application ran. Posted on the listener bus, so that it is in the event log, as JSON with the
 * names of the getters.
 */
public final class PolicyDecision implements SparkListenerEvent {
  private final long time;
  private final String policy;
  private final String subject;
  private final String outcome;
  private final String reason;
  private final Map<String, String> before;
  private final Map<String, String> after;
  private final Map<String, Double> evidence;

  /**
   * @param subject what the decision is about, as Spark names it: the call of a stage or of an RDD
   * @param outcome one of the outcomes of every report: trial, kept, undone, set
   * @param before values of the settings that are changed
   * @param after their new values, with the same names
   */
  PolicyDecision(
      String policy,
      String subject,
      String outcome,
      String reason,
      Map<String, String> before,
      Map<String, String> after,
      Map<String, Double> evidence) {
    this.time = System.currentTimeMillis();
    this.policy = policy;
    this.subject = subject;
    this.outcome = outcome;
    this.reason = reason;
    this.before = before;
    this.after = after;
    this.evidence = evidence;
  }

  /** Milliseconds since 1970, as in all events of the log. */
  public long getTime() {
    return time;
  }

  public String getPolicy() {
    return policy;
  }

  public String getSubject() {
    return subject;
  }

  public String getOutcome() {
    return outcome;
  }

  public String getReason() {
    return reason;
  }

  public Map<String, String> getBefore() {
    return before;
  }

  public Map<String, String> getAfter() {
    return after;
  }

  public Map<String, Double> getEvidence() {
    return evidence;
  }
}
