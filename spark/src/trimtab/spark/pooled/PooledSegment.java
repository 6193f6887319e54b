package trimtab.spark.pooled;

import io.netty.handler.stream.ChunkedStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.util.TransportConf;

/** A block of a pooled file, as Spark's readers and its block server take it. Holds no descriptor itself. */
final class PooledSegment extends ManagedBuffer {
  private final ShuffleFiles files;
  private final SegmentReader.Segment segment;
  private final TransportConf transport;

  PooledSegment(ShuffleFiles files, SegmentReader.Segment segment, TransportConf transport) {
    this.files = files;
    this.segment = segment;
    this.transport = transport;
  }

  @Override
  public long size() {
    return segment.length();
  }

  @Override
  public ByteBuffer nioByteBuffer() throws IOException {
    try (SegmentReader reader = reader()) {
      if (segment.length() >= transport.memoryMapBytes()) {
        return reader.map();
      }
      ByteBuffer bytes = ByteBuffer.allocate((int) segment.length());
      while (bytes.hasRemaining()) {
        reader.read(bytes, bytes.position());
      }
      return bytes.flip();
    }
  }

  /** Throws nothing: Spark's reader asserts that only its own type of buffer fails here. Errors come with the first read. */
  @Override
  public InputStream createInputStream() {
    return new SegmentStream(reader(), segment.length());
  }

  @Override
  public ManagedBuffer retain() {
    return this;
  }

  @Override
  public ManagedBuffer release() {
    return this;
  }

  @Override
  public Object convertToNetty() {
    return new SegmentRegion(reader(), segment.length());
  }

  @Override
  public Object convertToNettyForSsl() {
    return new ChunkedStream(createInputStream(), transport.sslShuffleChunkSize());
  }

  @Override
  public String toString() {
    return "PooledSegment[" + segment + "]";
  }

  private SegmentReader reader() {
    return new SegmentReader(files, segment);
  }
}
