package trimtab.spark;

import java.util.Arrays;
import java.util.Optional;

/**
 * Tells the library that counts calls on files which stage the calling thread works for. The library is loaded into this JVM before
 * anything else (LD_PRELOAD); here it is only found again, never loaded anew.
 */
final class TaskTag {
  private static final String LIBRARY = "libtrimtab_storage_hooks.so";
  private static final boolean IS_READY = load();

  private TaskTag() {}

  /** Whether the library is in this JVM. */
  static boolean isReady() {
    return IS_READY;
  }

  /** Which executor this process is; -1: the driver. */
  static native void executor(int number);

  /** The calling thread begins a task of this stage. */
  static native void begin(int stage, int attempt);

  /** It has ended the task. */
  static native void end();

  /** How many events Spark's listener bus has received and dropped since the application began. */
  static native void listenerBus(long posted, long dropped);

  /** Whether this executor keeps its shuffle files open, and how long an open was measured to take there. */
  static native void shuffleFiles(boolean pooled, long openNanoseconds);

  private static boolean load() {
    String preloaded = System.getenv("LD_PRELOAD");
    if (preloaded == null) return false;
    Optional<String> library = Arrays.stream(preloaded.split("[: ]")).filter(path -> path.endsWith("/" + LIBRARY)).findFirst();
    if (!library.isPresent()) return false;
    try {
      System.load(library.get());
      return true;
    } catch (UnsatisfiedLinkError | SecurityException error) {
      return false;
    }
  }
}
