package trimtab.spark.policy;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Whether another number of partitions makes queries faster, from the times of queries that repeat. Knows nothing of Spark, reads no
 * clock.
 *
 * <p>Old, new, old: two runs of the query that lost most with the old number, two with the new one, one more with the old one. So what
 * gets faster by itself, as code that is compiled while it runs, is not taken for a gain.
 */
final class PartitionTrial {
  /** Runs of a query with one number before it is compared, and runs with the old one after the new one. */
  static final int RUNS = 2;

  /** A new number is kept if all repeated queries together take at most this share of the time. */
  static final double KEPT_SHARE = 0.95;

  private static final int MOST_FAILURES = 3;
  private static final int MOST_QUERIES = 1000;

  /** What is to be done with the setting after a query. */
  record Step(String outcome, int from, int to, String reason, Map<String, Double> evidence) {}

  private enum State {
    WATCHES,
    TRIES,
    CONTROLS,
    GAVE_UP
  }

  /** Of a query that repeats: milliseconds of its runs by number of partitions. The first run of all is not in it. */
  private final Map<String, Map<Integer, List<Long>>> times =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Map<Integer, List<Long>>> eldest) {
          return size() > MOST_QUERIES;
        }
      };

  private final Set<Integer> tried = new HashSet<>();
  private State state = State.WATCHES;
  private String subject = "";
  private int current;
  private int candidate;
  private int controls;
  private int failures;

  PartitionTrial(int current) {
    this.current = current;
  }

  /** The number that the next query should have. */
  int wanted() {
    return state == State.TRIES ? candidate : current;
  }

  /** Nothing is decided from now on; the number before a trial is wanted again. */
  void giveUp() {
    state = State.GAVE_UP;
  }

  /** A query has failed. With a new number that may be the reason: it is taken back, and no other is tried. */
  Optional<Step> failed(int partitions) {
    if (state != State.TRIES || partitions != candidate) return Optional.empty();
    giveUp();
    return Optional.of(new Step("undone", candidate, current, "a query failed with " + candidate + " partitions", Map.of()));
  }

  boolean isOver() {
    return state == State.GAVE_UP;
  }

  /**
   * A query has ended.
   *
   * @param query what repeats: the place of the query in the program
   * @param partitions the number that it ran with
   * @param proposal another number that its worst stage calls for, and why
   */
  Optional<Step> ended(String query, int partitions, long milliseconds, Optional<Proposal> proposal) {
    var ofQuery = times.get(query);
    if (ofQuery == null) {
      times.put(query, new LinkedHashMap<>());
      return Optional.empty();
    }
    ofQuery.computeIfAbsent(partitions, number -> new ArrayList<>()).add(milliseconds);
    return switch (state) {
      case WATCHES -> proposal.flatMap(change -> tryOut(query, partitions, change));
      case TRIES -> runs(candidate) < RUNS ? Optional.empty() : control();
      case CONTROLS -> runs(current) <= controls ? Optional.empty() : Optional.of(judge());
      case GAVE_UP -> Optional.empty();
    };
  }

  private Optional<Step> tryOut(String query, int partitions, Proposal proposal) {
    subject = query;
    if (partitions != current || proposal.partitions() == current || runs(current) < RUNS) return Optional.empty();
    if (!tried.add(proposal.partitions())) return Optional.empty();
    candidate = proposal.partitions();
    state = State.TRIES;
    return Optional.of(new Step("trial", current, candidate, proposal.reason(), proposal.evidence()));
  }

  private Optional<Step> control() {
    state = State.CONTROLS;
    controls = runs(current);
    return Optional.of(new Step("trial", candidate, current, "once more with the old number, to compare", Map.of()));
  }

  private Step judge() {
    long before = 0;
    long after = 0;
    for (var query : times.values()) {
      if (!query.containsKey(current) || !query.containsKey(candidate)) continue;
      before += Collections.min(query.get(current));
      after += Collections.min(query.get(candidate));
    }
    boolean isKept = after <= KEPT_SHARE * before;
    String reason = "repeated queries take " + after + " ms with " + candidate + " partitions, " + before + " ms with " + current;
    Map<String, Double> evidence = Map.of("before_s", before * 1e-3, "after_s", after * 1e-3);
    int old = current;
    if (isKept) {
      current = candidate;
    } else {
      failures++;
    }
    state = failures < MOST_FAILURES ? State.WATCHES : State.GAVE_UP;
    return isKept
        ? new Step("kept", old, candidate, reason, evidence)
        : new Step("undone", candidate, old, reason, evidence);
  }

  private int runs(int partitions) {
    var ofQuery = times.get(subject);
    return ofQuery == null ? 0 : ofQuery.getOrDefault(partitions, List.of()).size();
  }

  /** Another number of partitions, and what calls for it. */
  record Proposal(int partitions, String reason, Map<String, Double> evidence) {}
}
