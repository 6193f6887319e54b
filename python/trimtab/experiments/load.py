"""An experiment file (docs/guide/sweep.md) as an Experiment; whatever is wrong in it is an error."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from trimtab.experiments.columns import best_tables, figures, metrics
from trimtab.experiments.conditions import condition
from trimtab.experiments.factors import factor
from trimtab.experiments.fields import Fields, is_value
from trimtab.experiments.placement import VARIABLES
from trimtab.experiments.spec import (
    CPUS,
    ORDERS,
    Experiment,
    ExperimentError,
    Factor,
    FewerSamples,
    Observe,
    Value,
)
from trimtab.experiments.summary_specs import averages, outliers, violins
from trimtab.experiments.templates import EXTRA, TemplateError, filled
from trimtab.experiments.variants import KEY, overridden, varied
from trimtab.files import FileKind, read_text

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_NAME = re.compile(r"[A-Za-z_]\w*")
_FILE_NAME = re.compile(r"[\w][\w.+-]*")


def load(
    file: Path,
    overrides: Mapping[str, Any] | None = None,
    probes: str | None = None,
    variant: str | None = None,
) -> Experiment:
    """The experiment in `file`, or its variant of that name.

    `overrides` replace fixed values, or the values of factors; `probes` make it observe.

    Raises:
        ExperimentError: the file cannot be read, or something in it is wrong.
    """
    table = _table(file)
    if probes is not None:
        observe = table.get("observe")
        table["observe"] = {**(observe if isinstance(observe, dict) else {}), "with": probes}
    return experiment_of(file, *varied(file, table, variant, overrides or {}))


_FILE = FileKind("an experiment (TOML)", 16 << 20, ExperimentError, follows_links=True)


def _table(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(read_text(file, _FILE))
    except (ValueError, RecursionError) as error:
        raise ExperimentError(f"{file}: not TOML: {error}") from error


def experiment_of(file: Path, table: dict[str, Any], overrides: Mapping[str, Any]) -> Experiment:
    """The experiment that `table`, the content of `file`, describes.

    Raises:
        ExperimentError: something in it is wrong.
    """
    # Conditions may speak of what is in the file, whether it was replaced or not.
    _, _, before = _environment_of(Fields(file, "", table)) if overrides else ((), {}, {})
    top = Fields(file, "", overridden(file, table, overrides))
    factors, fixed, values = _environment_of(top)
    known_values = {
        name: tuple(dict.fromkeys((*own_values, *before.get(name, ()))))
        for name, own_values in values.items()
    }
    name = top.text("name")
    if not _FILE_NAME.fullmatch(name):
        top.wrong("name", "letters, digits and . _ + - (results are in a folder of this name)", name)
    observe = _observe(top)
    known_metrics = metrics(top, factors, fixed, observe is not None)
    experiment = Experiment(
        file=file,
        name=name,
        title=top.text("title", name),
        command=_command(top, values),
        cwd=_folder(top),
        environment=_environment(top.table("environment"), values, factors),
        factors=factors,
        fixed=fixed,
        where=tuple(condition(rule, known_values) for rule in top.tables("where")),
        skip=tuple(condition(rule, known_values) for rule in top.tables("skip")),
        samples=top.integer("samples", 5, 1),
        fewer=tuple(_fewer(rule, known_values) for rule in top.tables("fewer_samples")),
        seed=top.integer("seed", 1, 0),
        timeout_s=top.number("timeout", None, 1e-3, 1e7),
        run_s=top.number("run_s", None, 0.0, 1e7),
        order=top.one_of("order", ORDERS, ORDERS[0]),
        warm_up=top.integer("warm_up", 0, 0),
        expect=_pattern(top),
        observe=observe,
        disturbed_above=top.number("disturbed_above", 0.1, 0.0, 1.0),
        metrics=known_metrics,
        figures=figures(top, factors, known_values, known_metrics),
        best=best_tables(top, factors, known_metrics),
        violins=violins(top, factors, known_metrics),
        averages=averages(top, factors, known_metrics),
        outliers=outliers(top, factors, known_metrics),
    )
    top.take(KEY, {})
    top.done()
    return experiment


def _fewer(table: Fields, values: Mapping[str, tuple[Value, ...]]) -> FewerSamples:
    """Of [[fewer_samples]]: a number of samples, and the condition of the configurations that it is for."""
    return FewerSamples(table.integer("samples", 1, 1), condition(table, values))


def _environment_of(
    top: Fields,
) -> tuple[tuple[Factor, ...], dict[str, Value], dict[str, tuple[Value, ...]]]:
    """Factors, fixed values, and what each of both can be."""
    fixed = _fixed(top.table("fixed"))
    factors = _factors(top.table("factors"), fixed)
    values = {
        **{factor_named.name: factor_named.values for factor_named in factors},
        **{name: (fixed_value,) for name, fixed_value in fixed.items()},
    }
    return factors, fixed, values


def _fixed(table: Fields) -> dict[str, Value]:
    entries = table.rest()
    for name, value in entries.items():
        _check_name(table, name)
        if not is_value(value):
            table.wrong(name, "a string, number or boolean", value)
    return entries


def _factors(table: Fields, fixed: Mapping[str, Value]) -> tuple[Factor, ...]:
    entries = []
    for name, definition in table.rest().items():
        _check_name(table, name)
        if name in fixed:
            table.wrong(name, "a name that is not among the fixed values", name)
        entries.append(factor(table, name, definition, fixed))
        if [entry.kind for entry in entries].count(CPUS) > 1:
            table.wrong(name, "one factor of `cpus` at most", name)
    return tuple(entries)


def _check_name(table: Fields, name: str) -> None:
    if not _NAME.fullmatch(name) or name in EXTRA:
        table.wrong(name, f"a name of letters, digits and _ (other than {', '.join(EXTRA)})", name)


def _command(top: Fields, values: Mapping[str, tuple[Value, ...]]) -> tuple[str, ...]:
    command_given = top.take("command", expected="a string, or a list of strings")
    try:
        parts = shlex.split(command_given) if isinstance(command_given, str) else command_given
    except ValueError as error:
        top.wrong("command", f"quotes that are closed ({error})", command_given)
    if not isinstance(parts, list) or not parts or not all(isinstance(element, str) for element in parts):
        top.wrong("command", "a string, or a list of strings, that is not empty", command_given)
    for part in parts:
        _check_template(top, "command", part, values)
    return tuple(parts)


def _check_template(table: Fields, key: str, text: str, values: Mapping[str, tuple[Value, ...]]) -> None:
    try:
        filled(text, {**{name: element[0] for name, element in values.items()}, **dict.fromkeys(EXTRA, 0)})
    except TemplateError as error:
        raise ExperimentError(
            f"{table.file}: key '{table.path(key)}': expected {error} in '{text}'"
        ) from error


def _folder(top: Fields) -> Path:
    """Where the program runs: relative to the file, so that it does not matter where the sweep is called."""
    folder: Path = (top.file.parent / top.text("cwd", ".")).resolve()
    if not folder.is_dir():
        top.wrong("cwd", "a folder, relative to the file", str(folder))
    return folder


def _environment(
    table: Fields, values: Mapping[str, tuple[Value, ...]], factors: tuple[Factor, ...]
) -> dict[str, str]:
    entries = {}
    placing = [factor.name for factor in factors if factor.kind == CPUS]
    for name, text in table.rest().items():
        if placing and name in VARIABLES:
            table.wrong(name, f"no variable that the factor '{placing[0]}' (cpus) sets", name)
        command_given = str(text) if isinstance(text, int | float) and not isinstance(text, bool) else text
        if not isinstance(command_given, str) or "=" in name or not name:
            table.wrong(name, "NAME = a string or a number", text)
        _check_template(table, name, command_given, values)
        entries[name] = command_given
    return entries


def _pattern(top: Fields) -> str | None:
    pattern: str | None = top.text("expect", None)
    if pattern is not None:
        try:
            re.compile(pattern, re.MULTILINE)
        except re.error as error:
            top.wrong("expect", f"a regular expression ({error})", pattern)
    return pattern


def _observe(top: Fields) -> Observe | None:
    observe_given = top.take("observe", False)
    if isinstance(observe_given, bool):
        return Observe() if observe_given else None
    table = Fields(top.file, "observe", observe_given)
    observe_options = Observe(
        table.flag("trace", False),
        table.text("with", None),
        table.flag("keep", False),
        table.flag("kernel", False),
    )
    table.done()
    return observe_options
