import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.storage.StorageLevel;
import scala.Tuple2;

/**
 * PageRank whose links are grouped by a shuffle and not kept, so that each iteration groups them again.
 *
 * <p>PageRank NODES LINKS ITERATIONS PARTITIONS each|last no|memory|disk: LINKS of each node; an action after each iteration or only after the last one; where the
 * program itself persists the links. Prints the seconds of all iterations. Exit code 1: the answer is wrong.
 */
public final class PageRank {
  private static final double DAMPING = 0.85;

  private PageRank() {}

  public static void main(String[] arguments) {
    int nodes = Integer.parseInt(arguments[0]);
    int degree = Integer.parseInt(arguments[1]);
    int iterations = Integer.parseInt(arguments[2]);
    int partitions = Integer.parseInt(arguments[3]);
    boolean hasActions = arguments[4].equals("each");
    StorageLevel level =
        switch (arguments[5]) {
          case "memory" -> StorageLevel.MEMORY_ONLY();
          case "disk" -> StorageLevel.DISK_ONLY();
          default -> StorageLevel.NONE();
        };
    try (JavaSparkContext context = new JavaSparkContext(new SparkConf().setAppName("PageRank"))) {
      JavaPairRDD<Integer, Iterable<Integer>> links = links(context, nodes, degree, partitions);
      if (!level.equals(StorageLevel.NONE())) links.persist(level);
      long begin = System.nanoTime();
      double total = 0;
      JavaPairRDD<Integer, Double> ranks = links.mapValues(targets -> 1.0);
      for (int iteration = 1; iteration <= iterations; iteration++) {
        ranks = next(links, ranks, partitions);
        if (hasActions || iteration == iterations) total = ranks.values().reduce(Double::sum);
      }
      System.out.printf("%.3f%n", (System.nanoTime() - begin) * 1e-9);
      // Each node gives all that it has, so the sum stays.
      if (Math.abs(total - nodes) > 1e-6 * nodes) {
        System.err.println("PageRank: expected a sum of " + nodes + ", found " + total);
        System.exit(1);
      }
    }
  }

  /** Of each node to the next one, so that all have a link in both directions, and to some random ones. */
  private static JavaPairRDD<Integer, Iterable<Integer>> links(
      JavaSparkContext context, int nodes, int degree, int partitions) {
    List<Integer> numbers = new ArrayList<>();
    for (int part = 0; part < partitions; part++) numbers.add(part);
    return context
        .parallelize(numbers, partitions)
        .flatMapToPair(part -> {
          Random random = new Random(part);
          List<Tuple2<Integer, Integer>> links = new ArrayList<>();
          for (int node = part; node < nodes; node += partitions) {
            links.add(new Tuple2<>(node, (node + 1) % nodes));
            for (int link = 1; link < degree; link++) links.add(new Tuple2<>(node, random.nextInt(nodes)));
          }
          return links.iterator();
        })
        .groupByKey(partitions);
  }

  private static JavaPairRDD<Integer, Double> next(
      JavaPairRDD<Integer, Iterable<Integer>> links, JavaPairRDD<Integer, Double> ranks, int partitions) {
    return links
        .join(ranks, partitions)
        .values()
        .flatMapToPair(node -> {
          List<Tuple2<Integer, Double>> shares = new ArrayList<>();
          node._1().forEach(target -> shares.add(new Tuple2<>(target, 0.0)));
          double share = node._2() / shares.size();
          shares.replaceAll(pair -> new Tuple2<>(pair._1(), share));
          return shares.iterator();
        })
        .reduceByKey(Double::sum, partitions)
        .mapValues(sum -> 1 - DAMPING + DAMPING * sum);
  }
}
