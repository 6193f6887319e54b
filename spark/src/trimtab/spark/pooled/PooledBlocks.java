package trimtab.spark.pooled;

import java.io.File;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.util.HashMap;
import java.util.Map;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.util.MapConfigProvider;
import org.apache.spark.network.util.TransportConf;
import org.apache.spark.storage.BlockId;
import org.apache.spark.storage.ShuffleBlockBatchId;
import org.apache.spark.storage.ShuffleBlockId;
import org.apache.spark.storage.ShuffleDataBlockId;
import org.apache.spark.storage.ShuffleIndexBlockId;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.Option;
import scala.Tuple2;
import trimtab.spark.PoolNote;

/**
 * Finds shuffle blocks as Spark does, but keeps their files open and the offsets in memory. The same for all versions of Spark.
 *
 * <p>A reader gets what Spark's own resolver would give: blocks of a file that is missing, or that does not belong to
 * its index, and blocks of merged files are left to that one. Any thread may call it.
 */
final class PooledBlocks {
  private static final Logger LOG = LoggerFactory.getLogger(PooledBlocks.class);

  private final PooledBlockResolver resolver;
  private final PoolOptions options;
  private final TransportConf transport;
  private final ShuffleFiles files;
  private final long capacity;
  private volatile Boolean pooling; // null until the first read has decided it
  private volatile String retriedStage = "";

  /**
   * @param resolver asked only for the places of files
   */
  PooledBlocks(SparkConf conf, PooledBlockResolver resolver) {
    this.resolver = resolver;
    transport = new TransportConf("shuffle", new MapConfigProvider(settings(conf)));
    options = PoolOptions.from(conf);
    capacity = Math.max(1, (long) (options.descriptorShare() * DescriptorLimit.current()));
    files = new ShuffleFiles(capacity, options.indexBytes(), options.eviction(), options.idleSeconds() * 1_000_000_000L);
  }

  private static Map<String, String> settings(SparkConf conf) {
    Map<String, String> settings = new HashMap<>();
    for (Tuple2<String, String> setting : conf.getAll()) {
      settings.put(setting._1(), setting._2());
    }
    return settings;
  }

  /** The partitions [start, end) of one map output that a block contains. */
  private record Range(int shuffle, long map, int start, int end) {
    static Range of(BlockId block) {
      if (block instanceof ShuffleBlockId id) {
        return new Range(id.shuffleId(), id.mapId(), id.reduceId(), id.reduceId() + 1);
      }
      if (block instanceof ShuffleBlockBatchId id) {
        return new Range(id.shuffleId(), id.mapId(), id.startReduceId(), id.endReduceId());
      }
      return null;
    }
  }

  /** A block of a pooled file; null: Spark's own resolver is to find it. */
  ManagedBuffer find(BlockId block, Option<String[]> directories) {
    Range range = Range.of(block);
    if (range == null || !pooling()) {
      return null;
    }
    try {
      return pooledBlock(range, directories);
    } catch (IOException failure) {
      LOG.debug("Trimtab: {} is read without the pool", block, failure);
      return null;
    }
  }

  /** Returns null if the index does not belong to the data file: then Spark's own code says what is wrong. */
  private ManagedBuffer pooledBlock(Range range, Option<String[]> directories) throws IOException {
    ShuffleFile data = new ShuffleFile(range.shuffle, resolver.getDataFile(range.shuffle, range.map, directories));
    FileIdentity identity;
    try {
      identity = FileIdentity.of(data.file());
    } catch (NoSuchFileException missing) {
      files.drop(data);
      return null;
    }
    File index = resolver.getIndexFile(range.shuffle, range.map, directories);
    IndexOffsets found = files.offsets(data, index, identity, range.start, range.end);
    if (found == null) {
      return null;
    }
    long offset = found.offsets()[range.start];
    long length = found.offsets()[range.end] - offset;
    return new PooledSegment(files, new SegmentReader.Segment(data, identity, offset, length), transport);
  }

  /** A map output is about to be replaced or removed, or was. */
  void drop(int shuffle, long map) {
    if (Boolean.TRUE.equals(pooling)) {
      files.drop(new ShuffleFile(shuffle, resolver.getDataFile(shuffle, map, Option.empty())));
    }
  }

  /** Likewise of a file that another executor sends. */
  void drop(BlockId block) {
    if (block instanceof ShuffleDataBlockId id) {
      drop(id.shuffleId(), id.mapId());
    } else if (block instanceof ShuffleIndexBlockId id) {
      drop(id.shuffleId(), id.mapId());
    }
  }

  void dropShuffle(int shuffle) {
    files.dropShuffle(shuffle);
  }

  /** The first output of a retried stage: what its earlier attempts wrote may be replaced on any executor. */
  void dropIfRetried(int shuffle) {
    TaskContext task = TaskContext.get();
    if (task != null && task.stageAttemptNumber() > 0) {
      String attempt = task.stageId() + "." + task.stageAttemptNumber();
      if (!attempt.equals(retriedStage)) {
        retriedStage = attempt;
        files.dropShuffle(shuffle);
      }
    }
  }

  /** At the end of the executor. */
  void close() {
    if (Boolean.TRUE.equals(pooling)) {
      BoundedPool.Counts descriptors = files.descriptorCounts();
      BoundedPool.Counts indexes = files.indexCounts();
      LOG.info(
          "Trimtab: pooled shuffle files: {} blocks read from open files, {} opens, {} evictions; "
              + "{} lookups of offsets in memory, {} index files read",
          descriptors.hits(),
          descriptors.loads(),
          descriptors.evictions(),
          indexes.hits(),
          indexes.loads());
    }
    files.close();
  }

  private boolean pooling() {
    Boolean decided = pooling;
    return decided != null ? decided : decide();
  }

  private synchronized boolean decide() {
    if (pooling == null) {
      pooling = options.mode() == PoolOptions.Mode.AUTO ? opensAreSlow() : isPooledByUser();
    }
    return pooling;
  }

  private boolean isPooledByUser() {
    boolean isPooled = options.mode() == PoolOptions.Mode.TRUE;
    PoolNote.decided(isPooled, PoolNote.NOT_MEASURED);
    return isPooled;
  }

  private boolean opensAreSlow() {
    try {
      double cost = OpenCost.microseconds(SparkEnv.get().blockManager().diskBlockManager().localDirs());
      boolean slow = cost >= options.minimumOpenMicroseconds();
      LOG.info(
          "Trimtab: an open takes {} us in the shuffle directories: shuffle files are {}",
          Math.round(cost),
          slow ? "kept open, at most " + capacity : "not pooled");
      PoolNote.decided(slow, cost);
      return slow;
    } catch (IOException failure) {
      LOG.warn("Trimtab: shuffle files are not pooled, because opens could not be timed: {}", failure.toString());
      return false;
    }
  }
}
