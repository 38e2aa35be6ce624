"""PyTorch's profiler: the time of every operator, without the operators it calls."""

from __future__ import annotations

from engine.plugin import Runtime
from engine.profiling.profiler import N_WARM_UP, Task, ranked, tally
from engine.records import OperatorCost

CALL = "whetstone.call"


def operators(runtime: Runtime, task: Task) -> list[OperatorCost]:
    """Time per kind of operator (aten::addmm, …) on the processor."""
    from torch.profiler import ProfilerActivity, profile, record_function

    with runtime.open(task.artefact, task.threads) as predict:
        for call in range(N_WARM_UP):
            predict(task.inputs(call))
        with profile(activities=[ProfilerActivity.CPU]) as trace:
            for call in range(task.n_calls):
                rows = task.inputs(N_WARM_UP + call)
                with record_function(CALL):
                    predict(rows)
    events = list(trace.events())
    begins = sorted(event.time_range.start for event in events if event.name == CALL)
    nodes = [
        (event.time_range.start, event.name, event.self_cpu_time_total / 1000) for event in events if event.name != CALL
    ]
    return ranked(tally(nodes, begins))
