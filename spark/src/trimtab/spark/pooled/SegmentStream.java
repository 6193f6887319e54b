package trimtab.spark.pooled;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;

/**
 * The bytes of one block in order. Nothing is opened before the first read; the descriptor goes back to the pool after
 * the last byte, also if nobody closes the stream. Used by one thread at a time.
 */
final class SegmentStream extends InputStream {
  /** Decompressors ask for some 20 bytes and then for a block; one read of this size serves most small blocks. */
  private static final int BUFFER_BYTES = 32 << 10;

  private final SegmentReader reader;
  private final long length;
  private long position;
  private ByteBuffer buffer = ByteBuffer.allocate(0);
  private boolean closed;

  SegmentStream(SegmentReader reader, long length) {
    this.reader = reader;
    this.length = length;
  }

  @Override
  public int read() throws IOException {
    if (!buffer.hasRemaining() && !fill()) {
      return -1;
    }
    return buffer.get() & 0xff;
  }

  @Override
  public int read(byte[] into, int offset, int count) throws IOException {
    if (count == 0) {
      return 0;
    }
    if (!buffer.hasRemaining()) {
      if (count >= BUFFER_BYTES && position < length && !closed) {
        return readFromFile(ByteBuffer.wrap(into, offset, count));
      }
      if (!fill()) {
        return -1;
      }
    }
    int bytes = Math.min(count, buffer.remaining());
    buffer.get(into, offset, bytes);
    return bytes;
  }

  @Override
  public long skip(long count) {
    long skipped = Math.max(0, Math.min(count, available64()));
    long inBuffer = Math.min(skipped, buffer.remaining());
    buffer.position(buffer.position() + (int) inBuffer);
    position += skipped - inBuffer;
    return skipped;
  }

  @Override
  public int available() {
    return (int) Math.min(available64(), Integer.MAX_VALUE);
  }

  @Override
  public void close() {
    closed = true;
    reader.close();
  }

  private long available64() {
    return buffer.remaining() + length - position;
  }

  private boolean fill() throws IOException {
    if (closed) {
      throw new IOException("the stream of a block is closed");
    }
    if (position >= length) {
      return false;
    }
    if (buffer.capacity() == 0) {
      buffer = ByteBuffer.allocate((int) Math.min(BUFFER_BYTES, length - position));
    }
    buffer.clear();
    try {
      readFromFile(buffer);
    } finally {
      buffer.flip();
    }
    return true;
  }

  private int readFromFile(ByteBuffer into) throws IOException {
    int bytes = reader.read(into, position);
    position += bytes;
    if (position == length) {
      reader.close();
    }
    return bytes;
  }
}
