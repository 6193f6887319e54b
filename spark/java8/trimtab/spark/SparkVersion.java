package trimtab.spark;

import org.apache.spark.SparkContext;

/**
 * The minor version of the Spark that runs, as "4.2". It chooses what reaches into Spark's own (private[spark]) classes, which exists
 * once for each form that these classes had; with a version that it was not tested with nothing is changed.
 */
public final class SparkVersion {
  private SparkVersion() {}

  /** Of a driver. */
  public static String minor(SparkContext context) {
    return minorOf(context.version());
  }

  /** Of this JVM, driver or executor, from the jar that Spark's classes come from. "": unknown. */
  public static String minor() {
    return minorOf(org.apache.spark.package$.MODULE$.SPARK_VERSION());
  }

  /** "4.2" of "4.2.1" and "4.2.0-SNAPSHOT"; "" where there are no two numbers. */
  static String minorOf(String version) {
    String[] parts = version.split("[.-]");
    boolean hasNumbers = parts.length >= 2 && parts[0].matches("\\d+") && parts[1].matches("\\d+");
    return hasNumbers ? parts[0] + "." + parts[1] : "";
  }
}
