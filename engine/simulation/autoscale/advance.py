"""The event loop between two looks of the scaler: requests come, wait, are served; replicas become ready and drain."""

from __future__ import annotations

import numpy as np

ABSENT, STARTING, READY, DRAINING = 0, 1, 2, 3  # phases of a replica
OPEN, SERVED, TIMED_OUT, SHED = 0, 1, 2, 3  # what became of a request
NEXT, HEAD, TAIL, RUNNING = 0, 1, 2, 3  # places in `counts`: next arrival, the queue's ends, requests being served
NOW, BUSY, IN_FLIGHT, PAID = 0, 1, 2, 3  # places in `sums`: time, and integrals over it


def advance(  # noqa: PLR0912, PLR0915 - one loop, compiled as a whole
    until: float,
    wakes: bool,
    concurrency: int,
    timeout: float,
    max_waiting: int,
    first_call: float,
    arrivals: np.ndarray,
    services: np.ndarray,
    outcome: np.ndarray,
    finishes: np.ndarray,
    queue: np.ndarray,
    phase: np.ndarray,
    busy: np.ndarray,
    cold: np.ndarray,
    ready_at: np.ndarray,
    ordered_at: np.ndarray,
    heap_at: np.ndarray,
    heap_what: np.ndarray,
    counts: np.ndarray,
    sums: np.ndarray,
) -> bool:
    """Let everything happen up to and including `until`; True when it stopped at a request that woke an empty fleet.

    Of events at one time finishes come first, then replicas that become ready, then arrivals. A request goes to the
    replica with the fewest others. heap_what: (k, 2) int64, request and replica; all arrays are changed in place.
    """
    n, now = len(arrivals), sums[NOW]
    head, tail, running, coming = counts[HEAD], counts[TAIL], counts[RUNNING], counts[NEXT]
    free, live, next_ready, next_replica = 0, 0, np.inf, -1
    for r in range(len(phase)):
        if phase[r] == READY:
            free += concurrency - busy[r]
            live += 1
        elif phase[r] == STARTING:
            live += 1
            if ready_at[r] < next_ready:
                next_ready, next_replica = ready_at[r], r
    woke = False
    while True:
        at = next_ready
        if coming < n and arrivals[coming] < at:
            at = arrivals[coming]
        if running and heap_at[0] <= at:
            at = heap_at[0]
        if (coming == n and head == tail and running == 0) or at > until:
            break
        sums[BUSY] += running * (at - now)
        sums[IN_FLIGHT] += (running + tail - head) * (at - now)
        now = at
        while head < tail and now - arrivals[queue[head]] > timeout:
            outcome[queue[head]] = TIMED_OUT
            head += 1
        if running and heap_at[0] == at:
            request, replica = heap_what[0, 0], heap_what[0, 1]
            running -= 1
            last_at, last_request, last_replica = heap_at[running], heap_what[running, 0], heap_what[running, 1]
            place = 0
            while True:  # sift the last down from the root
                child = 2 * place + 1
                if child >= running:
                    break
                if child + 1 < running and heap_at[child + 1] < heap_at[child]:
                    child += 1
                if heap_at[child] >= last_at:
                    break
                heap_at[place] = heap_at[child]
                heap_what[place, 0], heap_what[place, 1] = heap_what[child, 0], heap_what[child, 1]
                place = child
            heap_at[place], heap_what[place, 0], heap_what[place, 1] = last_at, last_request, last_replica
            outcome[request] = SERVED
            finishes[request] = now
            busy[replica] -= 1
            if phase[replica] == READY:
                free += 1
            elif busy[replica] == 0:
                phase[replica] = ABSENT
                sums[PAID] += now - ordered_at[replica]
        elif next_ready == at:
            phase[next_replica] = READY
            free += concurrency
            next_ready, next_replica = np.inf, -1
            for r in range(len(phase)):
                if phase[r] == STARTING and ready_at[r] < next_ready:
                    next_ready, next_replica = ready_at[r], r
        else:
            queue[tail] = coming
            tail += 1
            coming += 1
            woke = wakes and live == 0
        while head < tail and free > 0:
            best = -1
            for r in range(len(phase)):
                if phase[r] == READY and busy[r] < concurrency and (best < 0 or busy[r] < busy[best]):
                    best = r
                    if busy[r] == 0:
                        break
            request = queue[head]
            head += 1
            service = services[request]
            if cold[best]:
                service = max(service, first_call)
                cold[best] = False
            busy[best] += 1
            free -= 1
            place, done = running, now + service
            running += 1
            while place > 0 and heap_at[(place - 1) // 2] > done:  # sift up
                parent = (place - 1) // 2
                heap_at[place] = heap_at[parent]
                heap_what[place, 0], heap_what[place, 1] = heap_what[parent, 0], heap_what[parent, 1]
                place = parent
            heap_at[place], heap_what[place, 0], heap_what[place, 1] = done, request, best
        if tail - head > max_waiting:
            tail -= 1
            outcome[queue[tail]] = SHED
            woke = False
        if woke:
            break
    if not woke and until < np.inf and (coming < n or head < tail or running > 0):
        sums[BUSY] += running * (until - now)
        sums[IN_FLIGHT] += (running + tail - head) * (until - now)
        now = until
    while head < tail and now - arrivals[queue[head]] > timeout:
        outcome[queue[head]] = TIMED_OUT
        head += 1
    counts[NEXT], counts[HEAD], counts[TAIL], counts[RUNNING] = coming, head, tail, running
    sums[NOW] = now
    return woke
