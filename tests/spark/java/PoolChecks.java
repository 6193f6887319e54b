package trimtab.spark.pooled;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.ClosedByInterruptException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** Checks of the pool without Spark's services: `java PoolChecks FOLDER`; prints the name of each check that holds. */
public final class PoolChecks {
  private static final int FILES = 40;
  private static final int BLOCKS = 25;
  private static final int BLOCK_BYTES = 3000;
  private static final long SECOND = 1_000_000_000L;

  private final Path folder;

  private PoolChecks(Path folder) {
    this.folder = folder;
  }

  public static void main(String[] arguments) throws Exception {
    PoolChecks checks = new PoolChecks(Path.of(arguments[0]));
    checks.newestGoesFirst();
    checks.oldestGoesFirst();
    checks.unusedGoesBeforeNewest();
    checks.leasedValuesStay();
    checks.failedLoadLeavesNothing();
    checks.manyThreadsReadTheSameBytes(FILES);
    checks.manyThreadsReadTheSameBytes(3);
    checks.interruptedReadersHarmNobody();
    checks.replacedFileIsNotRead();
    checks.streamsGiveTheirDescriptorsBack();
    checks.limitIsRead();
  }

  private static void expect(Object found, Object expected, String what) {
    if (!found.equals(expected)) {
      throw new AssertionError(what + ": expected " + expected + ", found " + found);
    }
  }

  /** Values are their keys; closed ones are noted. */
  private static final class Noted implements BoundedPool.Source<Integer, Integer> {
    final List<Integer> closed = new ArrayList<>();

    @Override
    public long weight(Integer key) {
      return 1;
    }

    @Override
    public Integer load(Integer key) throws IOException {
      if (key < 0) {
        throw new IOException("no such file");
      }
      return key;
    }

    @Override
    public void close(Integer value) {
      closed.add(value);
    }
  }

  private static List<Integer> evictedAfterFive(BoundedPool.Eviction eviction) throws IOException {
    Noted source = new Noted();
    BoundedPool<Integer, Integer> pool = new BoundedPool<>(source, 3, eviction, SECOND, () -> 0);
    for (int key = 0; key < 5; key++) {
      pool.release(pool.lease(key));
    }
    return source.closed;
  }

  private void newestGoesFirst() throws IOException {
    expect(evictedAfterFive(BoundedPool.Eviction.LIFO), List.of(2, 3), "newest first");
    System.out.println("newest goes first");
  }

  private void oldestGoesFirst() throws IOException {
    expect(evictedAfterFive(BoundedPool.Eviction.FIFO), List.of(0, 1), "oldest first");
    System.out.println("oldest goes first");
  }

  private void unusedGoesBeforeNewest() throws IOException {
    Noted source = new Noted();
    AtomicLong now = new AtomicLong();
    BoundedPool<Integer, Integer> pool = new BoundedPool<>(source, 3, BoundedPool.Eviction.LIFO, SECOND, now::get);
    for (int key = 0; key < 3; key++) {
      pool.release(pool.lease(key));
    }
    now.set(2 * SECOND);
    pool.release(pool.lease(0));
    pool.release(pool.lease(3));
    expect(source.closed, List.of(1), "the one that nobody read for longest");
    System.out.println("unused goes before newest");
  }

  private void leasedValuesStay() throws IOException {
    Noted source = new Noted();
    BoundedPool<Integer, Integer> pool = new BoundedPool<>(source, 1, BoundedPool.Eviction.LIFO, SECOND, () -> 0);
    var first = pool.lease(0);
    var second = pool.lease(1);
    expect(source.closed, List.of(), "closed while leased");
    pool.drop(key -> true);
    expect(source.closed, List.of(), "closed while leased, after drop");
    pool.release(first);
    pool.release(second);
    expect(source.closed, List.of(0, 1), "closed with the last release");
    expect(pool.counts().entries(), 0, "entries");
    System.out.println("leased values stay");
  }

  private void failedLoadLeavesNothing() throws IOException {
    BoundedPool<Integer, Integer> pool = new BoundedPool<>(new Noted(), 1, BoundedPool.Eviction.LIFO, SECOND, () -> 0);
    for (int attempt = 0; attempt < 3; attempt++) {
      try {
        pool.lease(-1);
        throw new AssertionError("a file that is not there was opened");
      } catch (IOException expected) {
        expect(pool.counts().entries(), 0, "entries after a failure");
      }
    }
    System.out.println("failed load leaves nothing");
  }

  /** Byte of a file at a position. */
  private static byte content(int file, long position) {
    return (byte) (file * 31 + position * 7 + position / 251);
  }

  private Path written(int file) throws IOException {
    byte[] bytes = new byte[BLOCKS * BLOCK_BYTES];
    for (int position = 0; position < bytes.length; position++) {
      bytes[position] = content(file, position);
    }
    return Files.write(folder.resolve("shuffle_0_" + file + "_0.data"), bytes);
  }

  private static PooledSegment block(ShuffleFiles files, Path path, int block) throws IOException {
    File file = path.toFile();
    SegmentReader.Segment segment =
        new SegmentReader.Segment(
            new ShuffleFile(0, file), FileIdentity.of(file), (long) block * BLOCK_BYTES, BLOCK_BYTES);
    return new PooledSegment(files, segment, null);
  }

  private static void checkBytes(byte[] bytes, int file, int block) {
    expect(bytes.length, BLOCK_BYTES, "bytes of a block");
    for (int position = 0; position < bytes.length; position++) {
      expect(bytes[position], content(file, (long) block * BLOCK_BYTES + position), "byte " + position);
    }
  }

  private static int openDescriptors(Path folder) throws IOException {
    int count = 0;
    for (File descriptor : new File("/proc/self/fd").listFiles()) {
      try {
        count += Files.readSymbolicLink(descriptor.toPath()).startsWith(folder) ? 1 : 0;
      } catch (IOException closedMeanwhile) {
        continue;
      }
    }
    return count;
  }

  private static void runAll(List<Callable<Void>> work) throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(8);
    try {
      for (Future<Void> done : threads.invokeAll(work)) {
        done.get();
      }
    } finally {
      threads.shutdownNow();
    }
  }

  private void manyThreadsReadTheSameBytes(int capacity) throws Exception {
    try (ShuffleFiles files = new ShuffleFiles(capacity, 1 << 20, BoundedPool.Eviction.LIFO, 60 * SECOND)) {
      List<Path> paths = new ArrayList<>();
      for (int file = 0; file < FILES; file++) {
        paths.add(written(file));
      }
      AtomicInteger most = new AtomicInteger();
      List<Callable<Void>> work = new ArrayList<>();
      for (int reader = 0; reader < 200; reader++) {
        int seed = reader;
        work.add(
            () -> {
              Random chance = new Random(seed);
              for (int file = 0; file < FILES; file++) {
                int block = chance.nextInt(BLOCKS);
                try (InputStream stream = block(files, paths.get(file), block).createInputStream()) {
                  checkBytes(stream.readAllBytes(), file, block);
                }
              }
              most.accumulateAndGet(openDescriptors(folder), Math::max);
              return null;
            });
      }
      runAll(work);
      if (capacity == FILES) {
        expect(files.descriptorCounts().loads(), (long) FILES, "opens");
      }
      expect(most.get() <= capacity + 8, true, "at most the capacity and one for each reader, found " + most);
    }
    expect(openDescriptors(folder), 0, "descriptors after the pool is closed");
    System.out.println("many threads read the same bytes, room for " + capacity);
  }

  private void interruptedReadersHarmNobody() throws Exception {
    Path path = written(0);
    try (ShuffleFiles files = new ShuffleFiles(4, 1 << 20, BoundedPool.Eviction.LIFO, 60 * SECOND)) {
      AtomicInteger interrupted = new AtomicInteger();
      List<Callable<Void>> work = new ArrayList<>();
      for (int reader = 0; reader < 400; reader++) {
        boolean killed = reader % 4 == 0;
        int block = reader % BLOCKS;
        work.add(
            () -> {
              if (killed) {
                Thread.currentThread().interrupt();
              }
              try (InputStream stream = block(files, path, block).createInputStream()) {
                checkBytes(stream.readAllBytes(), 0, block);
              } catch (ClosedByInterruptException expected) {
                interrupted.incrementAndGet();
                Thread.interrupted();
              }
              return null;
            });
      }
      runAll(work);
      expect(interrupted.get(), 100, "interrupted readers");
    }
    expect(openDescriptors(folder), 0, "descriptors after interrupts");
    System.out.println("interrupted readers harm nobody");
  }

  private void replacedFileIsNotRead() throws Exception {
    Path path = written(0);
    try (ShuffleFiles files = new ShuffleFiles(4, 1 << 20, BoundedPool.Eviction.LIFO, 60 * SECOND)) {
      PooledSegment before = block(files, path, 1);
      checkBytes(before.createInputStream().readAllBytes(), 0, 1);
      Path other = Files.write(folder.resolve("other"), new byte[BLOCKS * BLOCK_BYTES]);
      Files.move(other, path, StandardCopyOption.REPLACE_EXISTING);
      expect(block(files, path, 1).createInputStream().readAllBytes()[5], (byte) 0, "a byte of the new file");
      try {
        before.createInputStream().read();
        throw new AssertionError("offsets of the old file were used for the new one");
      } catch (IOException expected) {
        expect(expected.getMessage().contains("replaced"), true, expected.getMessage());
      }
    }
    System.out.println("replaced file is not read");
  }

  private void streamsGiveTheirDescriptorsBack() throws Exception {
    Path path = written(0);
    ShuffleFiles files = new ShuffleFiles(4, 1 << 20, BoundedPool.Eviction.LIFO, 60 * SECOND);
    InputStream readToItsEnd = block(files, path, 0).createInputStream();
    readToItsEnd.readAllBytes();
    InputStream closed = block(files, path, 1).createInputStream();
    closed.skip(10);
    expect(closed.read(), (int) content(0, BLOCK_BYTES + 10) & 0xff, "a byte after skip");
    expect(closed.available(), BLOCK_BYTES - 11, "bytes left");
    closed.close();
    expect(openDescriptors(folder), 1, "one descriptor for both");
    files.close();
    expect(openDescriptors(folder), 0, "descriptors although one stream was not closed");
    System.out.println("streams give their descriptors back");
  }

  private void limitIsRead() {
    String limits = "Limit      Soft Limit  Hard Limit  Units\nMax open files            4096     524288    files\n";
    expect(DescriptorLimit.parse(limits), 4096L, "limit");
    expect(DescriptorLimit.parse("Max open files   unlimited  unlimited  files"), (long) Integer.MAX_VALUE, "no limit");
    expect(DescriptorLimit.parse(""), 1024L, "unknown limit");
    System.out.println("limit is read");
  }
}
