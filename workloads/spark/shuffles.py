"""Spark programs whose shuffles differ, on generated data, with checked answers.

    spark-submit workloads/spark/shuffles.py [--preset small|study|wide|medium] [--only NAME ...]

Prints one line of JSON for each program: {"program": NAME, "seconds": TIME}. Exit code 1: an answer is wrong.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql


@dataclass(frozen=True)
class Size:
    """How much data: rows of tables, nodes of graphs, partitions on both sides of a shuffle, and iterations of the clustering."""

    rows: int
    nodes: int
    maps: int
    reduces: int
    iterations: int = 10


SIZES = {
    "small": Size(20_000, 60, 6, 6, 3),
    "study": Size(100_000, 100, 16, 32, 2),
    "wide": Size(400_000, 60, 40, 200),
    "medium": Size(2_000_000, 2000, 40, 200),
}


class WrongAnswer(Exception):
    """What a program computed is not what it should be."""


def expect(name: str, answer: object, expected: object) -> None:
    """Raise WrongAnswer unless both are equal."""
    if answer != expected:
        raise WrongAnswer(f"{name}: expected {expected}, found {answer}")


def exchange(spark: SparkSession, size: Size) -> None:
    """One shuffle alone: each reduce partition reads a block of each map partition, and there is hardly anything to compute."""
    rows = spark.range(0, size.rows, 1, size.maps).repartition(size.reduces, "id")
    answer = rows.selectExpr("sum(id) AS total", "count(*) AS rows").first()
    expect("exchange", (answer.total, answer.rows), (size.rows * (size.rows - 1) // 2, size.rows))


def group_by(spark: SparkSession, size: Size) -> None:
    """The widest shuffle: all rows move, nothing is combined before."""
    rows = spark.range(0, size.rows, 1, size.maps).repartition(size.reduces, "id")
    groups = rows.groupBy((sql.col("id") % 97).alias("key")).agg(sql.collect_list("id").alias("ids"))
    answer = {row.key: row.rows for row in groups.select("key", sql.size("ids").alias("rows")).collect()}
    expect("group_by", answer, {key: len(range(key, size.rows, 97)) for key in range(97)})


def page_rank(spark: SparkSession, size: Size, iterations: int = 3) -> None:
    """Joins the links with the ranks in each iteration; the reference is computed here, in plain Python."""
    links = graph(size.nodes)
    table = spark.sparkContext.parallelize(sorted(links.items()), size.maps).partitionBy(size.maps)
    ranks = table.mapValues(lambda targets: 1.0)
    for _ in range(iterations):
        shares = table.join(ranks).flatMap(
            lambda node: [(target, node[1][1] / len(node[1][0])) for target in node[1][0]]
        )
        ranks = shares.reduceByKey(lambda one, two: one + two, size.maps).mapValues(
            lambda sum: 0.15 + 0.85 * sum
        )
    answer, expected = dict(ranks.collect()), plain_page_rank(links, iterations)
    expect("page_rank, nodes", sorted(answer), sorted(expected))
    # Sums of the same shares in another order.
    worst = max(abs(rank - expected[node]) for node, rank in answer.items())
    expect("page_rank, differences above 1e-9", worst if worst > 1e-9 else 0, 0)


def graph(nodes: int) -> dict[int, list[int]]:
    """Links of each node: to the next one, so that all have a link, and to three random ones."""
    chance = random.Random(7)
    return {
        node: sorted({(node + 1) % nodes, *(chance.randrange(nodes) for _ in range(3))})
        for node in range(nodes)
    }


def plain_page_rank(links: dict[int, list[int]], iterations: int) -> dict[int, float]:
    """The reference of page_rank."""
    ranks = dict.fromkeys(links, 1.0)
    for _ in range(iterations):
        sums = dict.fromkeys(links, 0.0)
        for node, targets in links.items():
            for target in targets:
                sums[target] += ranks[node] / len(targets)
        ranks = {node: 0.15 + 0.85 * sum for node, sum in sums.items()}
    return ranks


def tera_sort(spark: SparkSession, size: Size) -> None:
    """Sorts records of 100 bytes by their first ten, as TeraSort does."""
    key = sql.substring(sql.sha2(sql.col("id").cast("string"), 256), 1, 10)
    records = spark.range(0, size.rows, 1, size.maps).select(
        key.alias("key"), sql.lpad(sql.col("id").cast("string"), 90, "0").alias("value")
    )
    parts = (
        records.repartitionByRange(size.reduces, "key")
        .sortWithinPartitions("key")
        .rdd.mapPartitions(lambda rows: check_order([row.key for row in rows]))
    )
    answer = parts.collect()
    expect("tera_sort, records", sum(count for count, *_ in answer), size.rows)
    bounds = [bound for count, first, last in answer if count for bound in (first, last)]
    expect("tera_sort, order of partitions", bounds, sorted(bounds))


def check_order(keys: list[str]) -> list[tuple[int, str, str]]:
    """Number, first and last of sorted keys."""
    if keys != sorted(keys):
        raise WrongAnswer("tera_sort: a partition is not sorted")
    return [(len(keys), keys[0] if keys else "", keys[-1] if keys else "")]


def aggregation(spark: SparkSession, size: Size) -> None:
    """SELECT key, sum(id) ... GROUP BY key."""
    table = numbers(spark, size).repartition(size.reduces, "id")
    answer = {row.key: row.total for row in table.groupBy("key").agg(sql.sum("id").alias("total")).collect()}
    expect("aggregation", answer, {key: sum(range(key, size.rows, 100)) for key in range(100)})


def join(spark: SparkSession, size: Size) -> None:
    """A sort-merge join of two tables with nine tenths of the rows of one side at one key."""
    left = numbers(spark, size).selectExpr("IF(id % 10 < 9, 0, id % 100) AS key", "id")
    right = numbers(spark, size).where("id < 100").select("key", sql.col("id").alias("other"))
    answer = (
        left.join(right.hint("merge"), "key").selectExpr("count(*) AS rows", "sum(other) AS total").first()
    )
    total = sum(row % 100 for row in range(size.rows) if row % 10 == 9)
    expect("join", (answer.rows, answer.total), (size.rows, total))


def numbers(spark: SparkSession, size: Size) -> DataFrame:
    """Rows (id, key = id % 100)."""
    return spark.range(0, size.rows, 1, size.maps).withColumn("key", sql.col("id") % 100)


def power_iteration(spark: SparkSession, size: Size) -> None:
    """Power iteration clustering of two cliques that one weak edge joins: many tiny messages."""
    from pyspark.ml.clustering import PowerIterationClustering

    nodes = min(size.nodes, 200)
    half = nodes // 2
    chance = random.Random(11)
    edges = [
        (one, two, 0.9 + 0.1 * chance.random())
        for first, last in ((0, half), (half, nodes))
        for one in range(first, last)
        for two in range(one + 1, last)
    ]
    table = spark.createDataFrame([*edges, (0, half, 0.001)], ["src", "dst", "weight"]).repartition(size.maps)
    clustering = PowerIterationClustering(k=2, maxIter=size.iterations, initMode="degree", weightCol="weight")
    clusters = {row.id: row.cluster for row in clustering.assignClusters(table).collect()}
    expect("power_iteration, nodes", len(clusters), nodes)
    first, second = ({clusters[node] for node in part} for part in (range(half), range(half, nodes)))
    expect("power_iteration, clusters", (len(first), len(second), first & second), (1, 1, set()))


PROGRAMS: dict[str, Callable[[SparkSession, Size], None]] = {
    program.__name__: program
    for program in (exchange, group_by, page_rank, tera_sort, aggregation, join, power_iteration)
}


def run(spark: SparkSession, size: Size, names: list[str]) -> None:
    """Run programs one after the other, a line of JSON for each."""
    for name in names:
        # In the event log each job has the name of its program.
        spark.sparkContext.setJobDescription(name)
        start = time.monotonic()
        PROGRAMS[name](spark, size)
        print(json.dumps({"program": name, "seconds": round(time.monotonic() - start, 3)}), flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(
        description="Spark programs with different shuffles and checked answers."
    )
    parser.add_argument("--preset", choices=SIZES, default="small")
    parser.add_argument("--only", nargs="+", choices=PROGRAMS, default=list(PROGRAMS))
    chosen = parser.parse_args()
    size = SIZES[chosen.preset]
    spark = SparkSession.builder.config("spark.sql.shuffle.partitions", str(size.reduces)).getOrCreate()
    try:
        run(spark, size, chosen.only)
    except WrongAnswer as wrong:
        print(wrong, file=sys.stderr)
        return 1
    finally:
        spark.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
