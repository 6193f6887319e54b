package trimtab.spark.pooled;

import java.io.File;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.StandardOpenOption;

/** An open data file, and which file it was when it was opened. Owned by the pool; readers only lease it. */
record OpenFile(FileChannel channel, FileIdentity identity) {
  private static final int ATTEMPTS = 8;

  /** Opens a file whose identity is the same before and after, so that it belongs to the descriptor. */
  static OpenFile open(File file) throws IOException {
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
      FileIdentity before = FileIdentity.of(file);
      FileChannel channel = FileChannel.open(file.toPath(), StandardOpenOption.READ);
      boolean keep = false;
      try {
        keep = FileIdentity.of(file).equals(before);
        if (keep) {
          return new OpenFile(channel, before);
        }
      } finally {
        if (!keep) {
          channel.close();
        }
      }
    }
    throw new IOException(file + ": replaced again and again while it was opened");
  }
}
