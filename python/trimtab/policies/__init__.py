"""Policies in Python: a class of yours that is shown what a running program does and proposes what to change.

`trimtab run --tune --policy FILE.py -- ./app` runs the one class of FILE.py that is derived from `Policy`, in a process of
its own. See docs/guide/policies.md.
"""

from trimtab.policies.policy import EVENTS, Event, Knob, Measurement, Policy, Proposal, Snapshot, Subject

__all__ = ["EVENTS", "Event", "Knob", "Measurement", "Policy", "Proposal", "Snapshot", "Subject"]
