package trimtab.spark.pooled;

import java.io.File;
import scala.Option;

/** A resolver of Spark with pooled files; a class for each version of Spark's own resolver implements it. */
interface PooledBlockResolver {
  /** Forgets all files of a shuffle that is removed. */
  void dropShuffle(int shuffle);

  /** As in Spark's own resolver: where the bytes of a map output are. */
  File getDataFile(int shuffle, long map, Option<String[]> directories);

  /** As in Spark's own resolver: where the offsets of its blocks are. */
  File getIndexFile(int shuffle, long map, Option<String[]> directories);
}
