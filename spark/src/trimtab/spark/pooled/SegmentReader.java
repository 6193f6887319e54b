package trimtab.spark.pooled;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.WritableByteChannel;

/**
 * Reads one block by position through the pool. Used by one thread at a time.
 *
 * <p>It leases the descriptor from the first read until {@link #close}. The JVM closes a channel if a thread that reads
 * it is interrupted, as Spark does with a task that it kills. The other readers of that descriptor notice a closed
 * channel, open the file again, and repeat their read: it is by position, so nothing is lost.
 */
final class SegmentReader implements AutoCloseable {
  private static final int ATTEMPTS = 64;

  private final ShuffleFiles files;
  private final Segment segment;
  private BoundedPool<ShuffleFile, OpenFile>.Lease lease;

  /**
   * A block: {@code length} bytes from {@code offset} on in a file.
   *
   * @param identity the file whose index gave the offset
   */
  record Segment(ShuffleFile file, FileIdentity identity, long offset, long length) {}

  private interface Transfer {
    long run(OpenFile file) throws IOException;
  }

  SegmentReader(ShuffleFiles files, Segment segment) {
    this.files = files;
    this.segment = segment;
  }

  /**
   * Reads at least one byte of the block.
   *
   * @param position in the block
   */
  int read(ByteBuffer into, long position) throws IOException {
    int limit = into.limit();
    into.limit((int) Math.min(limit, into.position() + segment.length() - position));
    try {
      long bytes = repeatIfClosed(file -> file.channel().read(into, segment.offset() + position));
      if (bytes < 0) {
        throw new EOFException(
            segment.file().file() + ": ends before byte " + (segment.offset() + segment.length()) + " of a block");
      }
      return (int) bytes;
    } finally {
      into.limit(limit);
    }
  }

  /** Sends up to {@code count} bytes to a socket, without copying them if the system can do that. */
  long transferTo(WritableByteChannel target, long position, long count) throws IOException {
    return repeatIfClosed(
        file -> {
          if (!target.isOpen()) {
            throw new IOException("the connection was closed while a block was sent");
          }
          return file.channel().transferTo(segment.offset() + position, count, target);
        });
  }

  ByteBuffer map() throws IOException {
    if (lease == null) {
      lease = files.leaseData(segment.file(), segment.identity());
    }
    return lease.value()
        .channel()
        .map(java.nio.channels.FileChannel.MapMode.READ_ONLY, segment.offset(), segment.length());
  }

  private long repeatIfClosed(Transfer transfer) throws IOException {
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
      if (lease == null) {
        lease = files.leaseData(segment.file(), segment.identity());
      }
      try {
        return transfer.run(lease.value());
      } catch (ClosedByInterruptException interrupted) {
        discard();
        throw interrupted;
      } catch (ClosedChannelException closedByAnother) {
        if (lease.value().channel().isOpen()) {
          throw closedByAnother; // the target is closed, not the file
        }
        discard();
      }
    }
    throw new IOException(segment.file().file() + ": closed by interrupted readers " + ATTEMPTS + " times");
  }

  private void discard() {
    files.discardData(lease);
    lease = null;
  }

  @Override
  public void close() {
    if (lease != null) {
      files.releaseData(lease);
      lease = null;
    }
  }
}
