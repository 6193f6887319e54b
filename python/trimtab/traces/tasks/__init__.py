"""The tasks of a process: when each was created, became ready, ran and waited, and which task gave it what it waited for.

Only of a process with all events.
"""

from trimtab.traces.tasks.build import task_table_of as task_table_of
from trimtab.traces.tasks.model import NO_TASK as NO_TASK
from trimtab.traces.tasks.model import NO_TIME as NO_TIME
from trimtab.traces.tasks.model import Gifts as Gifts
from trimtab.traces.tasks.model import Lanes as Lanes
from trimtab.traces.tasks.model import Stays as Stays
from trimtab.traces.tasks.model import TaskState as TaskState
from trimtab.traces.tasks.model import TaskTable as TaskTable
