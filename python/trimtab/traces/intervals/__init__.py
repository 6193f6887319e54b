"""What each lane of a process did from one moment to another, and whom it waited for: what the diagnosis reads.

Only of a process with all events. A lane computes, waits until another lane does something, resumes after that, or has no
CPU. The end of a wait is when its giver acted; what follows until the lane goes on is an interval of its own.
"""

from trimtab.traces.intervals.build import Lanes as Lanes
from trimtab.traces.intervals.build import intervals_of as intervals_of
from trimtab.traces.intervals.build import intervals_of_lanes as intervals_of_lanes
from trimtab.traces.intervals.build import lanes_of as lanes_of
from trimtab.traces.intervals.lane_parts import LaneParts as LaneParts
from trimtab.traces.intervals.lane_parts import parts_of as parts_of
from trimtab.traces.intervals.model import NO_LANE as NO_LANE
from trimtab.traces.intervals.model import Doing as Doing
from trimtab.traces.intervals.model import Group as Group
from trimtab.traces.intervals.model import Intervals as Intervals
from trimtab.traces.intervals.model import Kind as Kind
from trimtab.traces.intervals.model import Pace as Pace
from trimtab.traces.intervals.of_job import intervals_of_job as intervals_of_job
