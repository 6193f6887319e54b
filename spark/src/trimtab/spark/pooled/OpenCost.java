package trimtab.spark.pooled;

import java.io.File;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;

/** Measures what it costs to open a file in a directory. */
final class OpenCost {
  private static final int OPENS = 15;

  private OpenCost() {}

  /** Microseconds per open and close: the median of some opens, in the slowest of the directories. */
  static double microseconds(File[] directories) throws IOException {
    double slowest = 0;
    for (File directory : directories) {
      slowest = Math.max(slowest, median(directory.toPath()));
    }
    return slowest;
  }

  private static double median(Path directory) throws IOException {
    Path file = Files.createTempFile(directory, "trimtab_open_cost_", "");
    try {
      double[] microseconds = new double[OPENS];
      for (int open = 0; open < OPENS; open++) {
        long start = System.nanoTime();
        FileChannel.open(file, StandardOpenOption.READ).close();
        microseconds[open] = (System.nanoTime() - start) / 1e3;
      }
      Arrays.sort(microseconds);
      return microseconds[OPENS / 2];
    } finally {
      Files.deleteIfExists(file);
    }
  }
}
