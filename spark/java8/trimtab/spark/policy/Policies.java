package trimtab.spark.policy;

import java.util.Arrays;
import java.util.List;
import org.apache.spark.SparkContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trimtab.spark.JavaVersion;
import trimtab.spark.SparkVersion;

/** Starts the policies that the user has consented to. */
public final class Policies {
  public static final String SPECULATION = "spark.trimtab.speculation.enabled";
  public static final String PERSIST = "spark.trimtab.persist.enabled";
  public static final String PARTITIONS = "spark.trimtab.partitions.enabled";

  private static final Logger LOG = LoggerFactory.getLogger(Policies.class);

  /** They use classes that are private to Spark, and are tested with these versions. */
  private static final List<String> VERSIONS = Arrays.asList("4.0", "4.1", "4.2");

  private Policies() {}

  /** Before the scheduler is made. Whatever fails here, the application runs as without policies. */
  public static void start(SparkContext context) {
    boolean speculates = context.conf().getBoolean(SPECULATION, false);
    boolean persists = context.conf().getBoolean(PERSIST, false);
    boolean partitions = context.conf().getBoolean(PARTITIONS, false);
    if (!speculates && !persists && !partitions) return;
    String missing = missing(SparkVersion.minor(context));
    if (!missing.isEmpty()) {
      LOG.warn("Trimtab: no policy decides about this application: {}", missing);
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

  private static String missing(String version) {
    return VERSIONS.contains(version) ? JavaVersion.missing() : "Spark " + version + " is not one of " + VERSIONS;
  }
}
