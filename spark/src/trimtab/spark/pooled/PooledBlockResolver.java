package trimtab.spark.pooled;

/** What {@link PooledShuffleManager} needs of a resolver; a class for each minor version of Spark implements it. */
interface PooledBlockResolver {
  /** Forgets all files of a shuffle that is removed. */
  void dropShuffle(int shuffle);
}
