package trimtab.spark.pooled;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** How many files this process may have open (RLIMIT_NOFILE, soft). */
final class DescriptorLimit {
  /** What Linux gives to a process if nobody says otherwise. */
  private static final long USUAL = 1024;

  private static final String NAME = "Max open files";

  private DescriptorLimit() {}

  static long current() {
    try {
      return parse(Files.readString(Path.of("/proc/self/limits")));
    } catch (IOException unavailable) {
      return USUAL;
    }
  }

  /** Reads the soft limit in the format of {@code /proc/PID/limits}; 1,024 if it is not there. */
  static long parse(String limits) {
    for (String line : limits.split("\n")) {
      if (line.startsWith(NAME)) {
        String soft = line.substring(NAME.length()).trim().split(" +")[0];
        return soft.equals("unlimited") ? Integer.MAX_VALUE : Long.parseLong(soft);
      }
    }
    return USUAL;
  }
}
