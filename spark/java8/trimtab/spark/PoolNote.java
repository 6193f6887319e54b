package trimtab.spark;

/** Where the pool of shuffle files says what it decided. */
public final class PoolNote {
  /** Instead of the time of an open, where the user has decided. */
  public static final double NOT_MEASURED = 0;

  private PoolNote() {}

  /** Writes the decision into the run, if this JVM is started under {@code trimtab run}. */
  public static void decided(boolean pooled, double openMicroseconds) {
    if (!TaskTag.isReady()) return;
    try {
      TaskTag.shuffleFiles(pooled, Math.round(openMicroseconds * 1e3));
    } catch (UnsatisfiedLinkError olderLibrary) {
      // The decision is in the executor's log all the same.
    }
  }
}
