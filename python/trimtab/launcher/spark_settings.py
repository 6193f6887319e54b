"""What the user has set for Spark: in options of spark-submit, in files of settings, and in the environment."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

from trimtab.files import FileKind, read_text
from trimtab.model import RunError

SUBMIT = "spark-submit"
_SUBMITTERS = (SUBMIT, "spark-shell", "spark-sql", "pyspark")
MASTER, DEPLOY_MODE = "spark.master", "spark.submit.deployMode"
CLASS_PATH = "SPARK_DIST_CLASSPATH"
_OPTIONS = {"--master": MASTER, "--deploy-mode": DEPLOY_MODE}
# All other options of spark-submit have a value.
_FLAGS = {
    *("--help", "-h", "--verbose", "-v", "--version", "--supervise", "--usage-error"),
    "--load-spark-defaults",
}
_PROPERTIES = "--properties-file"
_FILE = FileKind("settings of Spark", 1 << 20, RunError, follows_links=True)
_CLASS_PATH_IS_SET = re.compile(rf"^[^#\n]*\b{CLASS_PATH}=(.*)$", re.MULTILINE)


def is_submitter(argv: list[str]) -> bool:
    """Whether spark-submit or one of its kin is started."""
    return bool(argv) and Path(argv[0]).name in _SUBMITTERS


def users_settings(argv: list[str], environment: Mapping[str, str]) -> dict[str, str]:
    """Settings of the user's own: of a program of Spark, or of any that will be started in this environment."""
    arguments = options_and_program(argv)[0] if is_submitter(argv) else submit_arguments(environment)
    master = {MASTER: environment["MASTER"]} if environment.get("MASTER") else {}
    return master | _defaults(argv, arguments, environment) | _settings_in(arguments)


def options_and_program(argv: list[str]) -> tuple[list[str], list[str]]:
    """Options of spark-submit, and the program with its own arguments, which may look like options.

    >>> options_and_program(["spark-submit", "--name", "x", "-v", "program.py", "--master", "y"])
    (['--name', 'x', '-v'], ['program.py', '--master', 'y'])
    """
    words = argv[1:]
    if Path(argv[0]).name != SUBMIT:
        return words, []
    place = 0
    while place < len(words) and words[place].startswith("-"):
        place += 1 if words[place] in _FLAGS or "=" in words[place] else 2
    return words[:place], words[place:]


def submit_arguments(environment: Mapping[str, str]) -> list[str]:
    """What a Python program starts spark-submit with."""
    try:
        return shlex.split(environment.get("PYSPARK_SUBMIT_ARGS", ""))
    except ValueError:
        return []


def without(arguments: list[str], name: str) -> list[str]:
    """Arguments of spark-submit without those that give setting `name`."""
    kept: list[str] = []
    skip = False
    for word, value in pairwise([*arguments, ""]):
        is_next = word in ("--conf", "-c") and value.startswith(f"{name}=")
        if not (skip or is_next or word.startswith((f"--conf={name}=", f"-c={name}="))):
            kept.append(word)
        skip = is_next
    return kept


def replaces_class_path(argv: list[str], environment: Mapping[str, str]) -> Path | None:
    """The user's spark-env.sh, if it gives SPARK_DIST_CLASSPATH another value and drops the one that is there."""
    folder = _settings_folder(argv, environment)
    path = folder / "spark-env.sh" if folder is not None else None
    values = _CLASS_PATH_IS_SET.findall(_text(path))
    return path if any(CLASS_PATH not in value for value in values) else None


def _settings_in(arguments: list[str]) -> dict[str, str]:
    settings = {}
    for word, value in pairwise([*arguments, ""]):
        option, has_value, attached = word.partition("=")
        if option in _OPTIONS:
            settings[_OPTIONS[option]] = attached if has_value else value
        elif option in ("--conf", "-c"):
            name, _, setting = (attached if has_value else value).partition("=")
            settings[name] = setting
    return settings


def _defaults(argv: list[str], arguments: list[str], environment: Mapping[str, str]) -> dict[str, str]:
    """Settings in the user's file of settings, which options override."""
    folder = _settings_folder(argv, environment)
    path = folder / "spark-defaults.conf" if folder is not None else None
    for word, value in pairwise([*arguments, ""]):
        option, has_value, attached = word.partition("=")
        if option == _PROPERTIES:
            path = Path(attached if has_value else value)
    rows = (
        line.replace("=", " ", 1).split(None, 1)
        for line in _text(path).splitlines()
        if not line.lstrip().startswith("#")
    )
    return {row[0]: row[1].strip() for row in rows if len(row) == 2}


def _text(path: Path | None) -> str:
    try:
        return read_text(path, _FILE) if path is not None else ""
    except (RunError, OSError):
        return ""


def _settings_folder(argv: list[str], environment: Mapping[str, str]) -> Path | None:
    if folder := environment.get("SPARK_CONF_DIR"):
        return Path(folder)
    home = _home(argv, environment)
    return home / "conf" if home is not None else None


def _home(argv: list[str], environment: Mapping[str, str]) -> Path | None:
    """As Spark's own scripts find it: SPARK_HOME, the folder above spark-submit, or pyspark beside this Python."""
    if home := environment.get("SPARK_HOME"):
        return Path(home)
    program = shutil.which(argv[0], path=environment.get("PATH")) if argv else None
    if program is None:
        return None
    above = Path(program).absolute().parent.parent
    homes = [above, *sorted(above.glob("lib/python3*/site-packages/pyspark"))]
    return next((home for home in homes if (home / "bin" / "spark-class").is_file()), None)
