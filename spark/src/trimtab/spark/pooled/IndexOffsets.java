package trimtab.spark.pooled;

import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;

/**
 * Where each block of a data file begins, and the end of the last one, in bytes; and which data file that was.
 *
 * @param offsets number of reduce partitions + 1 values
 */
record IndexOffsets(long[] offsets, FileIdentity data) {
  static IndexOffsets read(File index, FileIdentity data) throws IOException {
    ByteBuffer bytes = ByteBuffer.wrap(Files.readAllBytes(index.toPath())).order(ByteOrder.BIG_ENDIAN);
    long[] offsets = new long[bytes.remaining() / Long.BYTES];
    bytes.asLongBuffer().get(offsets);
    return new IndexOffsets(offsets, data);
  }

  /** Whether these are the offsets of that data file and contain these partitions. */
  boolean describes(FileIdentity file, int startPartition, int endPartition) {
    return data.equals(file)
        && startPartition >= 0
        && startPartition <= endPartition
        && endPartition < offsets.length
        && offsets[startPartition] <= offsets[endPartition]
        && offsets[offsets.length - 1] == file.length();
  }
}
