package trimtab.spark.pooled;

import java.io.IOException;
import java.nio.channels.WritableByteChannel;
import org.apache.spark.network.util.AbstractFileRegion;

/** One block that Netty sends to another executor, without copying it through the JVM's memory. */
final class SegmentRegion extends AbstractFileRegion {
  private final SegmentReader reader;
  private final long length;
  private long transferred;

  SegmentRegion(SegmentReader reader, long length) {
    this.reader = reader;
    this.length = length;
  }

  @Override
  public long position() {
    return 0;
  }

  @Override
  public long transferred() {
    return transferred;
  }

  @Override
  public long count() {
    return length;
  }

  @Override
  public long transferTo(WritableByteChannel target, long position) throws IOException {
    long left = length - position;
    if (left < 0 || position < 0) {
      throw new IllegalArgumentException("position " + position + " is not in a block of " + length + " bytes");
    }
    if (left == 0) {
      return 0;
    }
    long bytes = reader.transferTo(target, position, left);
    transferred += bytes;
    if (transferred == length) {
      reader.close();
    }
    return bytes;
  }

  @Override
  protected void deallocate() {
    reader.close();
  }
}
