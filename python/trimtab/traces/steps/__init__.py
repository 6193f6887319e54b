"""A recorded process as steps that wait for each other: what a replay with a change needs.

A step is work without waiting inside. Steps of a lane follow each other; parts of tasks may be done by any worker.
"""

from trimtab.traces.steps.build import StepDraft as StepDraft
from trimtab.traces.steps.build import draft_of_lanes as draft_of_lanes
from trimtab.traces.steps.build import steps_of_lanes as steps_of_lanes
from trimtab.traces.steps.model import NO_PIECE as NO_PIECE
from trimtab.traces.steps.model import StepLinks as StepLinks
from trimtab.traces.steps.model import StepLoops as StepLoops
from trimtab.traces.steps.model import StepPieces as StepPieces
from trimtab.traces.steps.model import Steps as Steps
from trimtab.traces.steps.of_job import Member as Member
from trimtab.traces.steps.of_job import steps_of_job as steps_of_job
