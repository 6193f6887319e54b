"""The advice for an imbalanced region fits the construct that shares its work out, whoever compiled it."""

from __future__ import annotations

from pathlib import Path

import pytest
from probe_run import record
from reports import build, part
from trimtab.analysis.advice import balance_advice
from trimtab.analysis.findings import ordered_findings
from trimtab.model.enumerations import Cause
from trimtab.model.report import Region
from trimtab.readers import open_run

SOURCE = (Path(__file__).parent / "advice.c").read_text(encoding="utf-8")
COMPILERS = ("gcc", "clang-19")
# What the advice must speak of; and what of other constructs it must not say.
ADVICE = {
    "static": ("schedule(dynamic, C)", ()),
    "dynamic": ("make the chunks smaller", ("schedule(",)),
    "few": ("only 3 iterations for 2 threads", ("schedule(",)),
    "sections": ("2 sections for 2 threads", ("collapse", "schedule(")),
    "single": ("single construct", ("schedule(", "loop")),
    "taskloop": ("grainsize", ("schedule(",)),
    "tasks": ("longest tasks", ("schedule(",)),
    "ordered": ("ordered part", ("dynamic",)),
    "nested": ("nested regions", ("schedule(",)),
    "by_thread_number": ("instead of by the thread's number", ()),
}


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("construct", ADVICE)
def test_advice_fits_the_construct(compiler: str, construct: str, tmp_path: Path) -> None:
    flags = ("-O1", "-g", "-fopenmp", f'-DCONSTRUCT="{construct}"')
    record(tmp_path, compiler, SOURCE, flags, threads=2)
    (region,) = [
        one_region for one_region in build(open_run(tmp_path / "run"))["regions"] if not one_region["nested"]
    ]
    wanted, unwanted = ADVICE[construct]
    advice = balance_advice(part(Region, region))
    assert wanted in advice, region
    assert not [entry for entry in unwanted if entry in advice], advice
    if construct == "ordered":
        (result,) = ordered_findings([part(Region, region)])
        assert result.cause is Cause.ORDERED and "ordered" in result.evidence
