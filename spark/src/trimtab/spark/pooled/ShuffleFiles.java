package trimtab.spark.pooled;

import java.io.File;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;

/**
 * The pools of one executor: descriptors of data files, and offsets of index files.
 *
 * <p>Any thread may call it. Descriptors are only read by position, so that any number of threads share one.
 */
final class ShuffleFiles implements AutoCloseable {
  private static final int ATTEMPTS = 8;

  private final BoundedPool<ShuffleFile, OpenFile> descriptors;
  private final BoundedPool<IndexKey, IndexOffsets> indexes;

  /** An index file with the data file that it describes; the identity is not part of the key. */
  private static final class IndexKey {
    private final ShuffleFile data;
    private final File index;
    private final FileIdentity identity;

    IndexKey(ShuffleFile data, File index, FileIdentity identity) {
      this.data = data;
      this.index = index;
      this.identity = identity;
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof IndexKey key && key.data.equals(data);
    }

    @Override
    public int hashCode() {
      return data.hashCode();
    }
  }

  /**
   * @param descriptors at most this many open files
   * @param indexBytes at most this many bytes of offsets
   */
  ShuffleFiles(long descriptors, long indexBytes, BoundedPool.Eviction eviction, long idleNanoseconds) {
    this.descriptors = new BoundedPool<>(new Opening(), descriptors, eviction, idleNanoseconds, System::nanoTime);
    this.indexes = new BoundedPool<>(new Reading(), indexBytes, eviction, idleNanoseconds, System::nanoTime);
  }

  private static final class Opening implements BoundedPool.Source<ShuffleFile, OpenFile> {
    @Override
    public long weight(ShuffleFile key) {
      return 1;
    }

    @Override
    public OpenFile load(ShuffleFile key) throws IOException {
      return OpenFile.open(key.file());
    }

    @Override
    public void close(OpenFile file) {
      closeQuietly(file.channel());
    }
  }

  private static final class Reading implements BoundedPool.Source<IndexKey, IndexOffsets> {
    @Override
    public long weight(IndexKey key) {
      return key.index.length();
    }

    @Override
    public IndexOffsets load(IndexKey key) throws IOException {
      return IndexOffsets.read(key.index, key.identity);
    }

    @Override
    public void close(IndexOffsets offsets) {}
  }

  private static void closeQuietly(FileChannel channel) {
    try {
      channel.close();
    } catch (IOException ignored) {
      // A file that was only read loses nothing if close fails.
    }
  }

  /**
   * Leases the descriptor of a data file.
   *
   * @throws IOException also if the file is not the expected one any more
   */
  BoundedPool<ShuffleFile, OpenFile>.Lease leaseData(ShuffleFile key, FileIdentity expected) throws IOException {
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
      BoundedPool<ShuffleFile, OpenFile>.Lease lease = leaseAfterMakingRoom(key);
      OpenFile file = lease.value();
      if (file.channel().isOpen() && file.identity().equals(expected)) {
        return lease;
      }
      descriptors.discard(lease);
    }
    throw new IOException(key.file() + ": was replaced after a reader had learnt the offsets of its blocks");
  }

  /** Opening fails where the process has no descriptors left; then those of the pool that nobody uses are given back. */
  private BoundedPool<ShuffleFile, OpenFile>.Lease leaseAfterMakingRoom(ShuffleFile key) throws IOException {
    try {
      return descriptors.lease(key);
    } catch (FileSystemException failure) {
      if (failure.getReason() == null || !failure.getReason().contains("Too many open files")) {
        throw failure;
      }
      descriptors.dropIdle();
      return descriptors.lease(key);
    }
  }

  void releaseData(BoundedPool<ShuffleFile, OpenFile>.Lease lease) {
    descriptors.release(lease);
  }

  void discardData(BoundedPool<ShuffleFile, OpenFile>.Lease lease) {
    descriptors.discard(lease);
  }

  /** Returns the offsets of the blocks of a data file, or null if the index file does not belong to it. */
  IndexOffsets offsets(ShuffleFile data, File index, FileIdentity identity, int startPartition, int endPartition)
      throws IOException {
    for (int attempt = 0; attempt < 2; attempt++) {
      BoundedPool<IndexKey, IndexOffsets>.Lease lease = indexes.lease(new IndexKey(data, index, identity));
      IndexOffsets offsets = lease.value();
      if (offsets.describes(identity, startPartition, endPartition)) {
        indexes.release(lease);
        return offsets;
      }
      indexes.discard(lease);
      descriptors.drop(data);
    }
    return null;
  }

  /** Forgets one data file and its offsets, because it is about to be replaced or removed. */
  void drop(ShuffleFile data) {
    descriptors.drop(data);
    indexes.drop(new IndexKey(data, null, null));
  }

  /** Forgets all files of a shuffle, also those of other executors on this host. */
  void dropShuffle(int shuffle) {
    descriptors.drop(key -> key.shuffle() == shuffle);
    indexes.drop(key -> key.data.shuffle() == shuffle);
  }

  BoundedPool.Counts descriptorCounts() {
    return descriptors.counts();
  }

  BoundedPool.Counts indexCounts() {
    return indexes.counts();
  }

  @Override
  public void close() {
    descriptors.drop(key -> true);
    indexes.drop(key -> true);
  }
}
