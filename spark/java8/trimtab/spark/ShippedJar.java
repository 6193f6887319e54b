package trimtab.spark;

import java.io.File;
import java.net.URISyntaxException;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends the plug-in to executors that were not started with our class path: those of a cluster that runs already. They would not find
 * it, and end; Spark gives up after some such ends.
 */
final class ShippedJar {
  private static final Logger LOG = LoggerFactory.getLogger(ShippedJar.class);

  /** What executors fetch before they load plug-ins: Spark's own list of the jars of {@code --jars}. */
  private static final String FIRST_JARS = "spark.app.initial.jar.urls";

  private static final String MANAGER = "spark.shuffle.manager";
  private static final String OURS = "trimtab.spark.pooled.PooledShuffleManager";

  private ShippedJar() {}

  /** Before the scheduler is made, which gives the settings to the executors. */
  static void send(SparkContext context) {
    if (context.isLocal() || context.master().startsWith("local-cluster")) return;
    try {
      File jar = new File(ShippedJar.class.getProtectionDomain().getCodeSource().getLocation().toURI());
      String url = context.env().rpcEnv().fileServer().addJar(jar);
      SparkConf conf = context.conf();
      String before = conf.get(FIRST_JARS, "");
      conf.set(FIRST_JARS, before.isEmpty() ? url : before + "," + url);
      if (SparkVersion.minor(context).startsWith("3.") && conf.get(MANAGER, "").equals(OURS)) {
        // Until Spark 4, executors make their shuffle manager before they fetch any jar.
        LOG.warn("Trimtab: shuffle files are not pooled: executors of Spark 3 in a cluster do not have the plug-in in time");
        conf.set(MANAGER, "sort");
      }
    } catch (URISyntaxException | RuntimeException | LinkageError failure) {
      LOG.warn("Trimtab: the plug-in could not be sent to executors: {}", failure.toString());
    }
  }
}
