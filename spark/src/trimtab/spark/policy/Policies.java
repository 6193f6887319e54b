package trimtab.spark.policy;

import java.util.Set;
import org.apache.spark.SparkContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trimtab.spark.SparkVersion;

/** Starts the policies that the user has consented to. */
public final class Policies {
  private static final Logger LOG = LoggerFactory.getLogger(Policies.class);

  /** They use classes that are private to Spark, and are tested with these versions. */
  private static final Set<String> VERSIONS = Set.of("4.2");

  private Policies() {}

  /** Before the scheduler is made. Whatever fails here, the application runs as without policies. */
  public static void start(SparkContext context) {
    boolean speculates = context.conf().getBoolean(SpeculationPolicy.OPTION, false);
    boolean persists = context.conf().getBoolean(PersistPolicy.OPTION, false);
    boolean partitions = context.conf().getBoolean(PartitionPolicy.OPTION, false);
    if (!speculates && !persists && !partitions) return;
    String version = SparkVersion.minor(context);
    if (!VERSIONS.contains(version)) {
      LOG.warn("Trimtab: no policy decides about this application: Spark {} is not one of {}", version, VERSIONS);
      return;
    }
    try {
      if (speculates) SpeculationPolicy.start(context);
      if (persists) PersistPolicy.start(context);
      if (partitions) PartitionPolicy.start(context);
    } catch (RuntimeException | LinkageError failure) {
      LOG.warn("Trimtab: a policy was not started: {}", failure.toString());
    }
  }
}
