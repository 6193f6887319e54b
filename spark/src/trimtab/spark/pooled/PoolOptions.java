package trimtab.spark.pooled;

import java.util.Locale;
import org.apache.spark.SparkConf;

/**
 * The options {@code spark.trimtab.pooledShuffle.*}.
 *
 * @param mode {@code auto}: only where an open costs at least {@code minimumOpenMicroseconds}
 * @param descriptorShare share of the process's limit of open files, in (0, 0.9]
 * @param indexBytes bytes of index offsets that are kept
 * @param idleSeconds files that were not read for this long are the first to be closed when there is no room
 */
record PoolOptions(
    Mode mode,
    double descriptorShare,
    long indexBytes,
    BoundedPool.Eviction eviction,
    double minimumOpenMicroseconds,
    long idleSeconds) {
  enum Mode {
    AUTO,
    TRUE,
    FALSE
  }

  private static final String PREFIX = "spark.trimtab.pooledShuffle.";

  /** Throws {@link IllegalArgumentException} that names the option, its value and what is allowed. */
  static PoolOptions from(SparkConf conf) {
    double share = conf.getDouble(PREFIX + "descriptorShare", 0.25);
    if (!(share > 0 && share <= 0.9)) {
      throw new IllegalArgumentException(PREFIX + "descriptorShare=" + share + ": expected more than 0, at most 0.9");
    }
    return new PoolOptions(
        choice(conf, "enabled", Mode.AUTO),
        share,
        conf.getSizeAsBytes(PREFIX + "indexMemory", "64m"),
        choice(conf, "eviction", BoundedPool.Eviction.LIFO),
        conf.getDouble(PREFIX + "minimumOpenMicroseconds", 50),
        conf.getTimeAsSeconds(PREFIX + "idle", "60s"));
  }

  private static <E extends Enum<E>> E choice(SparkConf conf, String name, E usual) {
    String value = conf.get(PREFIX + name, usual.name());
    try {
      return Enum.valueOf(usual.getDeclaringClass(), value.toUpperCase(Locale.ROOT));
    } catch (IllegalArgumentException unknown) {
      throw new IllegalArgumentException(
          PREFIX + name + "=" + value + ": expected one of "
              + java.util.Arrays.toString(usual.getDeclaringClass().getEnumConstants()).toLowerCase(Locale.ROOT));
    }
  }
}
