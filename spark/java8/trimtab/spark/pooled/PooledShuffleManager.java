package trimtab.spark.pooled;

import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.SparkConf;
import org.apache.spark.shuffle.IndexShuffleBlockResolver;
import org.apache.spark.shuffle.sort.SortShuffleManager;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trimtab.spark.JavaVersion;
import trimtab.spark.SparkVersion;

/**
 * Spark's sort shuffle with files that stay open: {@code spark.shuffle.manager} is set to this class.
 *
 * <p>On a version of Spark that has no resolver here, or if the resolver cannot be made, everything is as without it,
 * and one line of the log says so.
 */
public final class PooledShuffleManager extends SortShuffleManager {
  private static final Logger LOG = LoggerFactory.getLogger(PooledShuffleManager.class);

  /** Loaded by name, so that a class which was compiled for another version is never linked. */
  private static final Map<String, String> RESOLVERS = new TreeMap<>();

  static {
    RESOLVERS.put("3.5", "trimtab.spark.pooled.PooledBlockResolver35");
    RESOLVERS.put("4.0", "trimtab.spark.pooled.PooledBlockResolver35");
    RESOLVERS.put("4.1", "trimtab.spark.pooled.PooledBlockResolver42");
    RESOLVERS.put("4.2", "trimtab.spark.pooled.PooledBlockResolver42");
  }

  private final IndexShuffleBlockResolver resolver;

  public PooledShuffleManager(SparkConf conf) {
    super(conf);
    resolver = resolverFor(SparkVersion.minor(), conf, super.shuffleBlockResolver());
  }

  @Override
  public IndexShuffleBlockResolver shuffleBlockResolver() {
    return resolver != null ? resolver : super.shuffleBlockResolver();
  }

  @Override
  public boolean unregisterShuffle(int shuffle) {
    if (resolver instanceof PooledBlockResolver) {
      ((PooledBlockResolver) resolver).dropShuffle(shuffle);
    }
    return super.unregisterShuffle(shuffle);
  }

  /** Returns Spark's own resolver for an unknown version. */
  static IndexShuffleBlockResolver resolverFor(String version, SparkConf conf, IndexShuffleBlockResolver own) {
    String name = RESOLVERS.get(version);
    if (name == null) {
      return withoutPool(own, "Spark " + version + " is not one of " + RESOLVERS.keySet());
    }
    if (!JavaVersion.missing().isEmpty()) {
      return withoutPool(own, JavaVersion.missing());
    }
    try {
      Constructor<?> constructor =
          Class.forName(name).getDeclaredConstructor(SparkConf.class, IndexShuffleBlockResolver.class);
      return (IndexShuffleBlockResolver) constructor.newInstance(conf, own);
    } catch (InvocationTargetException failure) {
      if (failure.getCause() instanceof IllegalArgumentException) {
        throw (IllegalArgumentException) failure.getCause();
      }
      return withoutPool(own, failure.getCause().toString());
    } catch (ReflectiveOperationException | LinkageError failure) {
      return withoutPool(own, failure.toString());
    }
  }

  private static IndexShuffleBlockResolver withoutPool(IndexShuffleBlockResolver own, String reason) {
    LOG.warn("Trimtab: shuffle files are not pooled: {}", reason);
    return own;
  }
}
