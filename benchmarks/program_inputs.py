"""Inputs of real programs, and small programs for Python's packages: a copy lies beside their sources. Needs no package itself."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable


def proteins(count: int) -> None:
    """Sequences of some families, with changes."""
    source = random.Random(1)
    families = ["".join(source.choices("ACDEFGHIKLMNPQRSTVWY", k=200)) for _ in range(max(count // 20, 1))]
    for number in range(count):
        letters = list(families[number % len(families)])
        for place in source.sample(range(200), 60):
            letters[place] = source.choice("ACDEFGHIKLMNPQRSTVWY")
        print(f">s{number}\n{''.join(letters)}")


def aligned(count: int) -> None:
    """DNA of the same length, descended from each other."""
    source = random.Random(2)
    kept = ["".join(source.choices("ACGT", k=500))]
    for _ in range(count - 1):
        letters = list(source.choice(kept))
        for place in source.sample(range(500), 15):
            letters[place] = source.choice("ACGT")
        kept.append("".join(letters))
    for number, letters_of in enumerate(kept):
        print(f">s{number}\n{letters_of}")


def text(megabytes: int) -> None:
    """Lines of words; some words are frequent."""
    source = random.Random(3)
    words = [
        "".join(source.choices("abcdefghijklmnopqrstuvwxyz", k=source.randint(2, 9))) for _ in range(5000)
    ]
    left = megabytes * 1_000_000
    while left > 0:
        line = " ".join(words[int(len(words) * source.random() ** 3)] for _ in range(12))
        print(line)
        left -= len(line) + 1


def run_numpy() -> None:
    """Products and factors of matrices, many of them small."""
    import numpy

    source = numpy.random.default_rng(4)
    small = source.standard_normal((200, 60, 60))
    large = source.standard_normal((700, 700))
    total = 0.0
    for _ in range(12):
        total += float(numpy.trace(large @ large.T))
        total += sum(float(numpy.linalg.svd(matrix, compute_uv=False)[0]) for matrix in small)
    print(f"{total:.6e}")


def _product(seed: int) -> float:
    import numpy

    source = numpy.random.default_rng(seed)
    matrix = source.standard_normal((500, 500))
    for _ in range(20):
        matrix = matrix @ matrix
        matrix /= numpy.abs(matrix).max()
    return float(numpy.linalg.norm(matrix))


def run_processes() -> None:
    """Two processes, each with threads of its own."""
    from multiprocessing import get_context

    with get_context("fork").Pool(2) as pool:
        print(" ".join(f"{value:.6e}" for value in pool.map(_product, range(8))))


def run_kmeans() -> None:
    """Many short regions."""
    import numpy
    from sklearn.cluster import KMeans

    points = numpy.random.default_rng(5).standard_normal((30_000, 20))
    fitted = KMeans(n_clusters=20, n_init=2, max_iter=60, random_state=1).fit(points)
    print(f"{fitted.inertia_:.6e}")


def run_lightgbm() -> None:
    """Gradient boosting."""
    import lightgbm
    import numpy

    source = numpy.random.default_rng(6)
    rows = source.standard_normal((40_000, 30))
    target = rows[:, 0] * rows[:, 1] + numpy.sin(rows[:, 2])
    options = {"verbose": -1, "deterministic": True, "force_row_wise": True}
    fitted = lightgbm.train(options, lightgbm.Dataset(rows, target), num_boost_round=60)
    print(f"{float(fitted.predict(rows).sum()):.6e}")


if __name__ == "__main__":
    word, *numbers = sys.argv[1:]
    commands: dict[str, Callable[..., None]] = {
        "proteins": proteins,
        "aligned": aligned,
        "text": text,
        "run-numpy": run_numpy,
        "run-processes": run_processes,
        "run-kmeans": run_kmeans,
        "run-lightgbm": run_lightgbm,
    }
    commands[word](*map(int, numbers))
