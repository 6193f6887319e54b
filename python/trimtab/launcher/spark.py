"""What a Spark program is started with, so that its plug-in and event log are in the run.

Only what leaves the user's own settings as they are: the class path goes through SPARK_DIST_CLASSPATH, which is added to every
other; `spark.plugins` is merged; an event log of the user's own stays where it is.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from trimtab.files import FileKind, read_text
from trimtab.model import RunError
from trimtab.paths import spark_event_logs, spark_plugin, storage_library

PLUGIN = "trimtab.spark.TrimtabPlugin"
_PLUGINS, _EVENT_LOG = "spark.plugins", "spark.eventLog.enabled"
# Further settings, name=value with semicolons between them: what `trimtab tune` tries and keeps.
SETTINGS_VARIABLE = "TRIMTAB_SPARK_SETTINGS"
_SUBMITTERS = ("spark-submit", "spark-shell", "spark-sql", "pyspark")
_MASTER = "spark.master"
_STORAGE = "calls on files of Spark"
_SCRIPT = FileKind("a Python program", 4 << 20, RunError, follows_links=True)
_DEFAULTS = FileKind("settings of Spark", 1 << 20, RunError, follows_links=True)
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
    added = _Added(settings_of(environment.get(SETTINGS_VARIABLE, "")), tuple(consents))
    name = Path(argv[0]).name
    if name in _SUBMITTERS:
        user = users_settings(argv, environment)
        return _start(argv, user, directory, environment, "", added)
    script = _script_of(argv) if name.startswith("python") else ""
    if "pyspark" not in script:
        return None
    user = users_settings(argv, environment)
    return _start(argv, user, directory, environment, script, added)


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


def users_settings(argv: list[str], environment: Mapping[str, str]) -> dict[str, str]:
    """Settings of the user's own: of a program of Spark, or of any that will be started in this environment."""
    arguments = argv if argv and Path(argv[0]).name in _SUBMITTERS else _submit_arguments(environment)
    return _defaults(argv, environment) | _given(arguments)


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


def _submit_arguments(environment: Mapping[str, str]) -> list[str]:
    try:
        return shlex.split(environment.get("PYSPARK_SUBMIT_ARGS", ""))
    except ValueError:
        return []


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


def _start(
    argv: list[str],
    user: dict[str, str],
    directory: Path,
    environment: Mapping[str, str],
    script: str,
    added: _Added,
) -> SparkStart:
    """The start, or why the plug-in cannot be in it."""
    if why := _why_not(user, script):
        refused = [consent.refused(why) for consent in added.consents]
        return SparkStart(argv, unavailable=[_missing(_STORAGE, why, "spark.plugins, by hand"), *refused])
    settings = {_PLUGINS: ",".join(dict.fromkeys([*filter(None, user.get(_PLUGINS, "").split(",")), PLUGIN]))}
    ours, unavailable = added.without(lambda name: name in user or _is_in(name, script))
    settings |= ours
    if user.get(_EVENT_LOG) == "true" or _EVENT_LOG in script:
        why = "the program writes an event log of its own"
        unavailable.append(_missing("Spark's stages and tasks", why, "trimtab spark LOG"))
    else:
        folder = spark_event_logs(directory)
        folder.mkdir()
        settings |= {_EVENT_LOG: "true", "spark.eventLog.dir": folder.as_uri()}
    options = [word for name, value in settings.items() for word in ("--conf", f"{name}={value}")]
    class_path = os.pathsep.join(filter(None, [environment.get("SPARK_DIST_CLASSPATH"), str(spark_plugin())]))
    variables = {"SPARK_DIST_CLASSPATH": class_path}
    if script:
        before = shlex.split(environment.get("PYSPARK_SUBMIT_ARGS", "pyspark-shell"))
        variables["PYSPARK_SUBMIT_ARGS"] = shlex.join([*options, *_without(before, _PLUGINS)])
    else:
        # Where an option is given twice, Spark takes the last: the user's, but for what was merged.
        argv = [argv[0], *options, *_without(argv[1:], _PLUGINS)]
    return SparkStart(argv, variables, (storage_library(),), unavailable)


def _missing(what: str, why: str, remedy: str) -> dict[str, str]:
    """What is not recorded, as run.json has it."""
    from trimtab.model.enumerations import Missing

    return {"what": what, "why": why, "remedy": remedy, "kind": str(Missing.OTHER)}


def _kept(name: str) -> str:
    return f"{name}: set by you, so it is left as it is"


def _why_not(user: Mapping[str, str], script: str) -> str:
    """Why the plug-in is not added; "": it is."""
    if not spark_plugin().exists():
        return "this Trimtab was built without a JDK, so it has no plug-in for Spark"
    if not storage_library().exists():
        return f"{storage_library()} is missing"
    master = user.get(_MASTER, "")
    if master.startswith(_REMOTE) or any(f'"{word}' in script or f"'{word}" in script for word in _REMOTE):
        return "executors on other hosts are not observed"
    if _PLUGINS in script:
        return f"the program sets {_PLUGINS} itself"
    return ""


def _given(argv: list[str]) -> dict[str, str]:
    """Settings in arguments of spark-submit."""
    settings = {}
    for word, value in pairwise([*argv, ""]):
        option, has_value, attached = word.partition("=")
        if option == "--master":
            settings[_MASTER] = attached if has_value else value
        elif option in ("--conf", "-c"):
            name, _, setting = (attached if has_value else value).partition("=")
            settings[name] = setting
    return settings


def _without(arguments: list[str], name: str) -> list[str]:
    """Arguments of spark-submit without those that give setting `name`."""
    kept: list[str] = []
    skip = False
    for word, value in pairwise([*arguments, ""]):
        is_next = word in ("--conf", "-c") and value.startswith(f"{name}=")
        if not (skip or is_next or word.startswith(f"--conf={name}=")):
            kept.append(word)
        skip = is_next
    return kept


def _defaults(argv: list[str], environment: Mapping[str, str]) -> dict[str, str]:
    """Settings in the user's file of settings, which options override."""
    path = _settings_file(argv, environment)
    try:
        lines = read_text(path, _DEFAULTS).splitlines() if path is not None else []
    except (RunError, OSError):
        return {}
    rows = (line.replace("=", " ", 1).split(None, 1) for line in lines if not line.lstrip().startswith("#"))
    return {row[0]: row[1].strip() for row in rows if len(row) == 2}


def _settings_file(argv: list[str], environment: Mapping[str, str]) -> Path | None:
    if "--properties-file" in argv[:-1]:
        return Path(argv[argv.index("--properties-file") + 1])
    if folder := environment.get("SPARK_CONF_DIR"):
        return Path(folder) / "spark-defaults.conf"
    home = environment.get("SPARK_HOME")
    return Path(home) / "conf" / "spark-defaults.conf" if home else None


def _script_of(argv: list[str]) -> str:
    """The text of the first argument that is a Python file; "": there is none that can be read."""
    for word in argv[1:]:
        if word.endswith(".py"):
            try:
                return read_text(Path(word), _SCRIPT)
            except (RunError, OSError):
                return ""
    return ""
