package trimtab.spark.pooled;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.LongSupplier;
import java.util.function.Predicate;

/**
 * Keeps values that are expensive to load (open files, tables of offsets) up to a total weight.
 *
 * <p>A value that somebody leases is never evicted. If all values are leased, the pool exceeds its capacity and returns
 * to it with the next release, so nobody ever waits for another one's release and there can be no deadlock. Values that
 * nobody leased for the idle time go first, in the order of their last use; then the newest or the oldest, by the
 * chosen order. The newest first is best for shuffles: reduce tasks read the files of all map tasks in turn, and with
 * the oldest first no file would still be there in the next turn (Chaimov 2017, section 5.3).
 *
 * <p>Any thread may call it. Values are loaded and closed outside its lock.
 */
final class BoundedPool<K, V> {
  /** How to make, weigh and close values. */
  interface Source<K, V> {
    /** Weight of the value of this key, in the unit of the capacity; known before it is loaded. */
    long weight(K key) throws IOException;

    V load(K key) throws IOException;

    void close(V value);
  }

  enum Eviction {
    LIFO,
    FIFO
  }

  /** How often the pool had a value, and how often it had to load one. */
  record Counts(long hits, long loads, long evictions, int entries) {}

  private final Source<K, V> source;
  private final long capacity;
  private final Eviction eviction;
  private final long idleNanoseconds;
  private final LongSupplier clock;

  private final Map<K, Lease> entries = new HashMap<>();
  private final TreeMap<Long, Lease> idleByAge = new TreeMap<>();
  private final LinkedHashSet<Lease> idleByUse = new LinkedHashSet<>();
  private long weightOfAll;
  private long nextAge;
  private long hits;
  private long loads;
  private long evictions;

  BoundedPool(Source<K, V> source, long capacity, Eviction eviction, long idleNanoseconds, LongSupplier clock) {
    this.source = source;
    this.capacity = capacity;
    this.eviction = eviction;
    this.idleNanoseconds = idleNanoseconds;
    this.clock = clock;
  }

  /** A value and the number of its users. Each call of {@link #lease} needs one call of {@link #release}. */
  final class Lease {
    private final K key;
    private final long age;
    private V value;
    private long weight;
    private int users;
    private long lastUse;
    private boolean dropped;

    private Lease(K key, long age) {
      this.key = key;
      this.age = age;
    }

    V value() {
      return value;
    }

    /** Loads the value unless another user already did; a second thread waits here while the first one loads. */
    private synchronized void load() throws IOException {
      if (value == null) {
        reserve(this, source.weight(key));
        value = source.load(key);
      }
    }
  }

  /** Returns the value of the key, loaded if necessary. If loading fails, nothing stays in the pool. */
  Lease lease(K key) throws IOException {
    Lease lease;
    synchronized (this) {
      lease = entries.get(key);
      if (lease == null) {
        lease = new Lease(key, nextAge++);
        entries.put(key, lease);
        loads++;
      } else {
        hits++;
      }
      if (lease.users++ == 0) {
        idleByAge.remove(lease.age);
        idleByUse.remove(lease);
      }
    }
    try {
      lease.load();
      return lease;
    } catch (IOException | RuntimeException | Error failure) {
      discard(lease);
      throw failure;
    }
  }

  void release(Lease lease) {
    List<V> closing;
    synchronized (this) {
      if (--lease.users == 0) {
        if (lease.dropped) {
          closing = lease.value == null ? List.of() : List.of(lease.value);
        } else {
          lease.lastUse = clock.getAsLong();
          idleByAge.put(lease.age, lease);
          idleByUse.add(lease);
          closing = evictUntilFits();
        }
      } else {
        closing = List.of();
      }
    }
    closing.forEach(source::close);
  }

  /** Releases a lease whose value cannot be used any more; others that lease it now keep it until they release it. */
  void discard(Lease lease) {
    synchronized (this) {
      forget(lease);
    }
    release(lease);
  }

  /** Drops the values of these keys; those that are leased are closed with their last release. */
  void drop(Predicate<K> which) {
    List<V> closing = new ArrayList<>();
    synchronized (this) {
      for (Iterator<Lease> all = entries.values().iterator(); all.hasNext(); ) {
        Lease lease = all.next();
        if (which.test(lease.key)) {
          all.remove();
          closing.addAll(retire(lease));
        }
      }
    }
    closing.forEach(source::close);
  }

  void drop(K key) {
    List<V> closing;
    synchronized (this) {
      Lease lease = entries.remove(key);
      closing = lease == null ? List.of() : retire(lease);
    }
    closing.forEach(source::close);
  }

  /** Closes all that nobody uses, for example when the process has no descriptors left. */
  void dropIdle() {
    List<V> closing = new ArrayList<>();
    synchronized (this) {
      for (Lease lease : new ArrayList<>(idleByUse)) {
        entries.remove(lease.key);
        closing.addAll(retire(lease));
      }
    }
    closing.forEach(source::close);
  }

  synchronized Counts counts() {
    return new Counts(hits, loads, evictions, entries.size());
  }

  private void reserve(Lease lease, long weight) {
    List<V> closing;
    synchronized (this) {
      if (lease.dropped) {
        return;
      }
      lease.weight = weight;
      weightOfAll += weight;
      closing = evictUntilFits();
    }
    closing.forEach(source::close);
  }

  private List<V> evictUntilFits() {
    List<V> closing = new ArrayList<>();
    while (weightOfAll > capacity && !idleByAge.isEmpty()) {
      Lease victim = victim();
      entries.remove(victim.key);
      closing.addAll(retire(victim));
      evictions++;
    }
    return closing;
  }

  private Lease victim() {
    Lease leastRecent = idleByUse.iterator().next();
    if (clock.getAsLong() - leastRecent.lastUse > idleNanoseconds) {
      return leastRecent;
    }
    return (eviction == Eviction.LIFO ? idleByAge.lastEntry() : idleByAge.firstEntry()).getValue();
  }

  private void forget(Lease lease) {
    if (entries.remove(lease.key, lease)) {
      retire(lease);
    }
  }

  /** Returns what the caller has to close: the value, if nobody uses it. */
  private List<V> retire(Lease lease) {
    lease.dropped = true;
    weightOfAll -= lease.weight;
    idleByAge.remove(lease.age);
    idleByUse.remove(lease);
    return lease.users == 0 && lease.value != null ? List.of(lease.value) : List.of();
  }
}
