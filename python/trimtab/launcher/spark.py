"""What a Spark program is started with, so that its plug-in and event log are in the run.

Only what leaves the user's own settings as they are: the class path goes through SPARK_DIST_CLASSPATH, which is added to every
other; `spark.plugins` is merged; an event log of the user's own stays where it is.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from trimtab.files import FileKind, read_text
from trimtab.launcher.spark_settings import (
    CLASS_PATH,
    DEPLOY_MODE,
    MASTER,
    is_submitter,
    options_and_program,
    replaces_class_path,
    users_settings,
    without,
)
from trimtab.model import RunError
from trimtab.paths import spark_event_logs, spark_plugin, storage_library

PLUGIN = "trimtab.spark.TrimtabPlugin"
_PLUGINS, _EVENT_LOG, _LOG_FOLDER = "spark.plugins", "spark.eventLog.enabled", "spark.eventLog.dir"
# Further settings, name=value with semicolons between them: what `trimtab tune` tries and keeps.
SETTINGS_VARIABLE = "TRIMTAB_SPARK_SETTINGS"
_STORAGE = "calls on files of Spark"
_SCRIPT = FileKind("a Python program", 4 << 20, RunError, follows_links=True)
# Executors of these get neither our environment nor the jar.
_REMOTE = ("yarn", "k8s://", "mesos://")


@dataclass(frozen=True)
class Consent:
    """What the user consents to by an option of `trimtab run`.

    Attributes:
        what: as the run names it where the user does not get it.
        name, value: the setting that asks for it.
        opposing: other settings; where the user has set one, it decides.
    """

    what: str
    name: str
    value: str
    opposing: tuple[str, ...] = ()

    def refused(self, why: str) -> dict[str, str]:
        """An entry of the run's list."""
        return _missing(self.what, why, f"--conf {self.name}={self.value}, by hand")


POOLED = Consent(
    "pooled shuffle files of Spark", "spark.shuffle.manager", "trimtab.spark.pooled.PooledShuffleManager"
)
SPECULATION = Consent(
    "speculation of Spark, as the plug-in decides",
    "spark.trimtab.speculation.enabled",
    "true",
    ("spark.speculation",),
)
PERSIST = Consent(
    "persisted results of shuffles, as the plug-in decides", "spark.trimtab.persist.enabled", "true"
)

PARTITIONS = Consent(
    "partitions of later queries of Spark, as the plug-in decides",
    "spark.trimtab.partitions.enabled",
    "true",
    ("spark.sql.shuffle.partitions",),
)


@dataclass(frozen=True)
class SparkStart:
    """How to start a Spark program.

    Attributes:
        argv: the program and its arguments, with ours added.
        environment: variables to set.
        libraries: to be loaded into it before the preload library.
        unavailable: what is not recorded, for the run's list.
    """

    argv: list[str]
    environment: dict[str, str] = field(default_factory=dict)
    libraries: tuple[Path, ...] = ()
    unavailable: list[dict[str, str]] = field(default_factory=list)


def spark_start(
    argv: list[str], directory: Path, environment: Mapping[str, str], consents: Iterable[Consent] = ()
) -> SparkStart | None:
    """How to start `argv`; None: it is no program of Spark, as far as can be told.

    Args:
        argv: The program and its arguments.
        directory: Of the run.
        environment: The user's, with the start values that earlier runs found.
        consents: What the user consents to.
    """
    script = _script_of(argv)
    is_spark = is_submitter(argv)
    if not is_spark and not (Path(argv[0]).name.startswith("python") and "pyspark" in script):
        return None
    added = _Added(settings_of(environment.get(SETTINGS_VARIABLE, "")), tuple(consents))
    return _start(_Program(argv, script, is_spark), directory, environment, added)


def settings_of(text: str) -> dict[str, str]:
    """Settings in the form of SETTINGS_VARIABLE; what is no setting of Spark is left out.

    >>> settings_of("spark.speculation=true;nothing;")
    {'spark.speculation': 'true'}
    """
    pairs = (part.strip().partition("=") for part in text.split(";"))
    return {name: value for name, sign, value in pairs if sign and name.startswith("spark.")}


def settings_text(settings: Mapping[str, str]) -> str:
    """The reverse of settings_of."""
    return ";".join(f"{name}={value}" for name, value in settings.items())


def is_of_user(name: str, argv: list[str], environment: Mapping[str, str]) -> bool:
    """Whether the user has set a setting, as far as can be told: as an option, in a file, or in the program's own text."""
    return name in users_settings(argv, environment) or _is_in(name, _script_of(argv))


def _is_in(name: str, script: str) -> bool:
    return f'{name}"' in script or f"{name}'" in script


def local_directories(environment: Mapping[str, str]) -> list[tuple[Path, str]]:
    """Where Spark would put shuffle files, and which setting says so; its own order of precedence."""
    name = "spark.local.dir"
    settings = users_settings([], environment)
    for source, value in (
        ("SPARK_LOCAL_DIRS", environment.get("SPARK_LOCAL_DIRS")),
        (name, settings.get(name)),
    ):
        if value:
            return [(Path(folder.strip()), source) for folder in value.split(",") if folder.strip()]
    return [(Path("/tmp"), f"{name} (default)")]


@dataclass(frozen=True)
class _Program:
    """A program of Spark: the text of its script, if it is one, and whether spark-submit or one of its kin starts it."""

    argv: list[str]
    script: str
    is_submitter: bool


@dataclass(frozen=True)
class _Added:
    """Settings that are added where the user has none of them."""

    tuned: dict[str, str]
    consents: tuple[Consent, ...]

    def without(self, is_of_user: Callable[[str], bool]) -> tuple[dict[str, str], list[dict[str, str]]]:
        """The settings, and an entry of the run's list for each that the user has set."""
        settings = {name: value for name, value in self.tuned.items() if not is_of_user(name)}
        kept = [
            _missing("a setting of Spark", _kept(name), f"without {name} of your own")
            for name in self.tuned
            if name not in settings
        ]
        for consent in self.consents:
            own = next(filter(is_of_user, (consent.name, *consent.opposing)), None)
            if own is None:
                settings[consent.name] = consent.value
            else:
                kept.append(consent.refused(_kept(own)))
        return settings, kept


def _start(program: _Program, directory: Path, environment: Mapping[str, str], added: _Added) -> SparkStart:
    """The start, or why the plug-in cannot be in it."""
    argv, script = program.argv, program.script
    user = users_settings(argv, environment)
    if why := _why_not(program, user, environment):
        refused = [consent.refused(why) for consent in added.consents]
        return SparkStart(argv, unavailable=[_missing(_STORAGE, why, "spark.plugins, by hand"), *refused])
    settings = {_PLUGINS: ",".join(dict.fromkeys([*filter(None, user.get(_PLUGINS, "").split(",")), PLUGIN]))}
    ours, unavailable = added.without(lambda name: name in user or _is_in(name, script))
    settings |= ours
    # Where an option is given twice, Spark takes the last, which is the user's: but for what is merged, or has no meaning of its own.
    replaced = [_PLUGINS]
    if why := _own_event_log(user, script):
        unavailable.append(_missing("Spark's stages and tasks", why, "trimtab spark LOG"))
    else:
        folder = spark_event_logs(directory)
        folder.mkdir()
        settings |= {_EVENT_LOG: "true", _LOG_FOLDER: folder.as_uri()}
        replaced.append(_LOG_FOLDER)
    options = [word for name, value in settings.items() for word in ("--conf", f"{name}={value}")]
    class_path = os.pathsep.join(filter(None, [environment.get(CLASS_PATH), str(spark_plugin())]))
    variables = {CLASS_PATH: class_path}
    if program.is_submitter:
        before, rest = options_and_program(argv)
        argv = [argv[0], *options, *_without_all(before, replaced), *rest]
    else:
        before = shlex.split(environment.get("PYSPARK_SUBMIT_ARGS", "pyspark-shell"))
        variables["PYSPARK_SUBMIT_ARGS"] = shlex.join([*options, *_without_all(before, replaced)])
    return SparkStart(argv, variables, (storage_library(),), unavailable)


def _without_all(arguments: list[str], names: Iterable[str]) -> list[str]:
    for name in names:
        arguments = without(arguments, name)
    return arguments


def _own_event_log(user: Mapping[str, str], script: str) -> str:
    """Why the event log is not written into the run; "": it is."""
    is_enabled = user.get(_EVENT_LOG, "").lower()
    if is_enabled == "true" or _EVENT_LOG in script or _LOG_FOLDER in script:
        return "the program writes an event log of its own"
    return _kept(_EVENT_LOG) if is_enabled == "false" else ""


def _missing(what: str, why: str, remedy: str) -> dict[str, str]:
    """What is not recorded, as run.json has it."""
    from trimtab.model.enumerations import Missing

    return {"what": what, "why": why, "remedy": remedy, "kind": str(Missing.OTHER)}


def _kept(name: str) -> str:
    return f"{name}: set by you, so it is left as it is"


def _why_not(program: _Program, user: Mapping[str, str], environment: Mapping[str, str]) -> str:
    """Why the plug-in is not added; "": it is."""
    if not spark_plugin().exists():
        return "this Trimtab was built without a JDK, so it has no plug-in for Spark"
    if not storage_library().exists():
        return f"{storage_library()} is missing"
    script = program.script
    is_remote = any(f'"{word}' in script or f"'{word}" in script for word in _REMOTE)
    if is_remote or user.get(MASTER, "").startswith(_REMOTE) or user.get(DEPLOY_MODE) == "cluster":
        return "executors on other hosts are not observed"
    if _PLUGINS in script:
        return f"the program sets {_PLUGINS} itself"
    if file := replaces_class_path(program.argv, environment):
        return f"{file} sets {CLASS_PATH} without the value that it has: the plug-in would not be found"
    return ""


def _script_of(argv: list[str]) -> str:
    """The text of the Python file that is started; "": there is none that can be read."""
    words = options_and_program(argv)[1][:1] if is_submitter(argv) else argv[1:]
    for word in words:
        if word.endswith(".py"):
            try:
                return read_text(Path(word), _SCRIPT)
            except (RunError, OSError):
                return ""
    return ""
