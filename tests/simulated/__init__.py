"""Synthetic runs with planted causes: `program -> simulate -> run directory`.

A program (`team_program`, `task_program`, `job_program`) says what is to be computed, and what has to wait for what. A simulation
(`team_simulation.simulate_team`, `task_simulation.simulate_tasks`, `job_simulation.simulate_job`) runs it on a `Machine` and gives a `Recording`: how long it took, and the records
that Trimtab's recorders would have written, which `Recording.write` puts into a run directory. `planting.plant` puts causes of idle cores
into a program; the simulated time with a cause minus that without it is what the cause costs, whatever the analysis says. `generating.case_of`
draws all of this from a seed.

Nothing here uses the analysis, or the replay of rooms/diagnosis.
"""
