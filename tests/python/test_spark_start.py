"""What `trimtab run` adds to a Spark program, and what it leaves alone."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from trimtab.analysis.storage import percentile_ns
from trimtab.launcher import spark
from trimtab.launcher.spark import PLUGIN, SparkStart, spark_start


@pytest.fixture(autouse=True)
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("spark_plugin", "storage_library"):
        path = tmp_path / name
        path.touch()
        monkeypatch.setattr(spark, name, lambda path=path: path)
    (tmp_path / "run").mkdir()


def start(tmp_path: Path, *argv: str, **environment: str) -> SparkStart:
    result = spark_start(list(argv), tmp_path / "run", environment)
    assert result is not None
    return result


def settings(argv: list[str]) -> dict[str, str]:
    """As spark-submit reads them: the last one counts."""
    return dict(value.split("=", 1) for word, value in pairwise(argv) if word in ("--conf", "-c"))


def test_adds_plugin_and_event_log_to_spark_submit(tmp_path: Path) -> None:
    started = start(
        tmp_path, "spark-submit", "--master", "local[2]", "program.py", SPARK_DIST_CLASSPATH="/a.jar"
    )
    assert started.argv[-3:] == ["--master", "local[2]", "program.py"]
    folder = tmp_path / "run" / "spark-events"
    assert settings(started.argv) == {
        "spark.plugins": PLUGIN,
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": folder.as_uri(),
    }
    assert folder.is_dir()
    assert started.environment == {"SPARK_DIST_CLASSPATH": f"/a.jar:{tmp_path / 'spark_plugin'}"}
    assert started.libraries == (tmp_path / "storage_library",)


def test_merges_with_the_users_plugins_wherever_they_are_set(tmp_path: Path) -> None:
    (tmp_path / "spark-defaults.conf").write_text(
        "# a comment\nspark.plugins  b.B\nspark.eventLog.enabled=true\n"
    )
    option = start(
        tmp_path, "spark-submit", "--conf", "spark.plugins=a.A", "x.py", SPARK_CONF_DIR=str(tmp_path)
    )
    assert settings(option.argv)["spark.plugins"] == f"a.A,{PLUGIN}"
    assert "spark.eventLog.dir" not in settings(option.argv)
    assert [row["remedy"] for row in option.unavailable] == ["trimtab spark LOG"]
    file = start(tmp_path, "spark-submit", "x.py", SPARK_CONF_DIR=str(tmp_path))
    assert settings(file.argv)["spark.plugins"] == f"b.B,{PLUGIN}"


def test_python_programs_get_it_through_the_environment(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("from pyspark import SparkContext\n")
    arguments = "--conf spark.plugins=a.A --name x pyspark-shell"
    started = start(tmp_path, "python3", str(program), PYSPARK_SUBMIT_ARGS=arguments)
    words = started.environment["PYSPARK_SUBMIT_ARGS"].split()
    assert started.argv == ["python3", str(program)]
    assert settings(words)["spark.plugins"] == f"a.A,{PLUGIN}"
    assert words[-3:] == ["--name", "x", "pyspark-shell"]


@pytest.mark.parametrize(
    ("argv", "text"),
    [
        (["python3", "program.py"], 'import pyspark\nbuilder.config("spark.plugins", "a.A")\n'),
        (["python3", "program.py"], 'import pyspark\nbuilder.master("yarn")\n'),
        (["spark-submit", "--master", "yarn", "program.py"], ""),
        (["spark-submit", "--master=k8s://https://x", "program.py"], ""),
        (["spark-submit", "--conf", "spark.master=yarn", "program.py"], ""),
        (["spark-submit", "program.py"], 'builder.config("spark.plugins", "a.A")\n'),
        (["spark-submit", "--deploy-mode=cluster", "--master", "spark://x:1", "program.py"], ""),
    ],
)
def test_leaves_alone_what_it_could_break_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, argv: list[str], text: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("program.py").write_text(text)
    started = start(tmp_path, *argv)
    assert (started.argv, started.environment, started.libraries) == (argv, {}, ())
    assert len(started.unavailable) == 1


def test_arguments_of_the_program_are_no_options(tmp_path: Path) -> None:
    words = [
        "program.py",
        "--master",
        "yarn",
        "--conf",
        "spark.plugins=a.A",
        "--conf",
        "spark.eventLog.dir=x",
    ]
    started = start(tmp_path, "spark-submit", "-v", "--name", "x", *words)
    assert started.argv[-len(words) :] == words
    assert started.argv[started.argv.index("spark.plugins=" + PLUGIN) :][-len(words) - 3 :][:3] == [
        "-v",
        "--name",
        "x",
    ]


def test_a_folder_for_logs_that_the_user_has_not_switched_on_is_not_used(tmp_path: Path) -> None:
    """It need not exist, and Spark would fail."""
    unused = ["--conf", "spark.eventLog.dir=/missing"]
    folder = (tmp_path / "run" / "spark-events").as_uri()
    option = start(tmp_path, "spark-submit", *unused, "x.py")
    assert settings(option.argv)["spark.eventLog.dir"] == folder
    (tmp_path / "run" / "spark-events").rmdir()
    program = tmp_path / "program.py"
    program.write_text("import pyspark\n")
    variable = start(
        tmp_path, "python3", str(program), PYSPARK_SUBMIT_ARGS=" ".join([*unused, "pyspark-shell"])
    )
    assert settings(variable.environment["PYSPARK_SUBMIT_ARGS"].split())["spark.eventLog.dir"] == folder


@pytest.mark.parametrize("where", ["option", "program"])
def test_an_event_log_that_the_user_decides_about_stays(tmp_path: Path, where: str) -> None:
    program = tmp_path / "program.py"
    program.write_text('builder.config("spark.eventLog.dir", "/logs")\n' if where == "program" else "")
    options = ["--conf", "spark.eventLog.enabled=FALSE"] if where == "option" else []
    started = start(tmp_path, "spark-submit", *options, str(program))
    assert settings(started.argv).get("spark.eventLog.enabled", "FALSE") == "FALSE"
    assert [row["what"] for row in started.unavailable] == ["Spark's stages and tasks"]


@pytest.mark.parametrize("home", ["spark", "venv/lib/python3.11/site-packages/pyspark"])
def test_settings_are_read_where_spark_submit_reads_them(tmp_path: Path, home: str) -> None:
    """Without SPARK_HOME: above the command, or in pyspark beside it."""
    top = tmp_path / home.partition("/")[0]
    for folder in (top / "bin", tmp_path / home / "bin", tmp_path / home / "conf"):
        folder.mkdir(parents=True, exist_ok=True)
    (tmp_path / home / "bin" / "spark-class").touch()
    (top / "bin" / "spark-submit").touch(0o755)
    (tmp_path / home / "conf" / "spark-defaults.conf").write_text("spark.plugins b.B\n")
    for command, path in (("spark-submit", str(top / "bin")), (str(top / "bin" / "spark-submit"), "/bin")):
        started = start(tmp_path, command, "x.py", PATH=path)
        assert settings(started.argv)["spark.plugins"] == f"b.B,{PLUGIN}"
        (tmp_path / "run" / "spark-events").rmdir()


@pytest.mark.parametrize(
    ("line", "is_replaced"),
    [
        ("export SPARK_DIST_CLASSPATH=$(hadoop classpath)", True),
        ("export SPARK_DIST_CLASSPATH=$SPARK_DIST_CLASSPATH:$(hadoop classpath)", False),
        ("# SPARK_DIST_CLASSPATH=x", False),
    ],
)
def test_a_class_path_of_the_users_own_that_would_hide_the_plugin(
    tmp_path: Path, line: str, is_replaced: bool
) -> None:
    (tmp_path / "spark-env.sh").write_text(f"{line}\n")
    started = start(tmp_path, "spark-submit", "x.py", SPARK_CONF_DIR=str(tmp_path))
    assert (started.argv == ["spark-submit", "x.py"]) is is_replaced
    assert ["spark-env.sh" in row["why"] for row in started.unavailable] == [True] * is_replaced


MANAGER = "trimtab.spark.pooled.PooledShuffleManager"


def pooled(tmp_path: Path, *argv: str, **environment: str) -> SparkStart:
    result = spark_start(list(argv), tmp_path / "run", environment, [spark.POOLED])
    assert result is not None
    return result


def test_shuffle_files_are_pooled_only_if_the_user_asks_for_it(tmp_path: Path) -> None:
    assert "spark.shuffle.manager" not in settings(start(tmp_path, "spark-submit", "x.py").argv)
    (tmp_path / "run" / "spark-events").rmdir()
    asked = pooled(tmp_path, "spark-submit", "x.py")
    assert settings(asked.argv)["spark.shuffle.manager"] == MANAGER
    assert asked.unavailable == []


def test_a_shuffle_manager_of_the_users_own_stays_and_the_run_says_so(tmp_path: Path) -> None:
    option = pooled(tmp_path, "spark-submit", "--conf", "spark.shuffle.manager=a.A", "x.py")
    assert settings(option.argv)["spark.shuffle.manager"] == "a.A"
    (tmp_path / "run" / "spark-events").rmdir()
    program = tmp_path / "program.py"
    program.write_text('import pyspark\nbuilder.config("spark.shuffle.manager", "a.A")\n')
    script = pooled(tmp_path, "python3", str(program))
    assert "shuffle.manager" not in script.environment["PYSPARK_SUBMIT_ARGS"]
    for started in (option, script):
        assert [row["what"] for row in started.unavailable] == [spark.POOLED.what]
    remote = pooled(tmp_path, "spark-submit", "--master", "yarn", "x.py")
    assert spark.POOLED.what in [row["what"] for row in remote.unavailable]


@pytest.mark.parametrize(
    ("consent", "name"),
    [
        (spark.SPECULATION, "spark.speculation"),
        (spark.SPECULATION, "spark.trimtab.speculation.enabled"),
        (spark.PARTITIONS, "spark.sql.shuffle.partitions"),
        (spark.PARTITIONS, "spark.trimtab.partitions.enabled"),
    ],
)
def test_what_the_user_has_set_is_not_decided_about(
    tmp_path: Path, consent: spark.Consent, name: str
) -> None:
    started = spark_start(["spark-submit", "-c", f"{name}=7", "x.py"], tmp_path / "run", {}, [consent])
    assert started is not None
    assert settings(started.argv).get(consent.name, "7") == "7"
    assert [row["why"] for row in started.unavailable] == [f"{name}: set by you, so it is left as it is"]


def test_settings_from_tuning_are_added_but_not_over_the_users(tmp_path: Path) -> None:
    text = "spark.speculation=true;spark.locality.wait=0s"
    started = start(
        tmp_path, "spark-submit", "-c", "spark.locality.wait=3s", "x.py", TRIMTAB_SPARK_SETTINGS=text
    )
    given_settings = settings(started.argv)
    assert (given_settings["spark.speculation"], given_settings["spark.locality.wait"]) == ("true", "3s")
    assert [row["why"] for row in started.unavailable] == [
        "spark.locality.wait: set by you, so it is left as it is"
    ]


def test_other_programs_get_nothing(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("import numpy\n")
    for argv in (
        ["python3", str(program)],
        ["python3", "-c", "pass"],
        ["./solver"],
        ["python3", "/missing.py"],
    ):
        assert spark_start(argv, tmp_path / "run", {}) is None


def test_percentiles_lie_within_their_power_of_two() -> None:
    histogram = np.zeros(42, dtype=np.uint32)
    assert percentile_ns(histogram, 0.5) == 0
    histogram[11], histogram[21] = 98, 2  # 1 to 2 us, and 1 to 2 ms
    assert 1024 <= percentile_ns(histogram, 0.5) < 2048
    assert 2**20 <= percentile_ns(histogram, 0.99) <= 2**21
