"""
Threads that share the tasks of a pass: one runs it, and helpers take tasks where they can.

Each thread has a range of a stage's tasks, which it claims one by one from the front, as memory is
read ahead; one that is done claims from the back of the others' ranges. A range is an int64 in
which the number of the stage stands beside the two ends. A helper that the system keeps from
running claims nothing, so a busy core costs its share and no more; which thread takes a task
changes no result. One that is stopped in the middle of a task holds the others up, though, for as
long as the system likes: after that the stages are run alone for some times as long, so that no
more than a part of the time is lost. Between passes a helper waits actively for a moment, then
sleeps.
"""

from __future__ import annotations

import threading

import numpy as np
from numba import njit
from numpy.typing import NDArray

from inference.engine.kernels import memory
from inference.engine.kernels.forward import (
    ATTENTION_NORM,
    EMBED,
    LAST_NORM,
    PREDICT,
    run_task,
    tasks_of,
)
from inference.engine.kernels.records import Record

# Cells, by their place in bytes; those that several threads write lie in cache lines of their own.
STAGE, LAYER, DONE, RUNNING, ALONE_UNTIL = 0, 8, 128, 256, 264
RANGES, RANGE_BYTES = 384, 128  # one a worker
# A range: the stage's number, its first task that is not claimed, and the end of its tasks.
NUMBER_AT, FIRST_AT, TASKS = 40, 20, (1 << 20) - 1

SPINS = 50_000  # pauses, each some 10 to 40 ns: longer than a step has between its passes
LATE_NS = 1_000_000  # less than the system gives another its core
LATE_TASKS = 4
TIMES_ALONE = 10  # as long as was waited for a late helper
LONGEST_NAP_NS = 2_000_000
FIRST = np.int64(0)  # layer, and worker: the one that runs the pass
FEW_TASKS = 4  # fewer are done before a helper has seen them


def cell_bytes(workers: int) -> int:
    """The size of what the threads share."""
    return RANGES + workers * RANGE_BYTES


@njit(error_model="numpy")
def _share_out(tasks, cells, workers):
    """Give each worker its part of a new stage's tasks."""
    for worker in range(workers):
        at = cells + RANGES + worker * RANGE_BYTES
        number = (memory.load(at) >> NUMBER_AT) + 1
        first, end = tasks * worker // workers, tasks * (worker + 1) // workers
        memory.store(at, (number << NUMBER_AT) | (first << FIRST_AT) | end)


@njit(error_model="numpy")
def _claim(at, range, own):
    """The task that is claimed of a range which was just read: -1 if another was quicker."""
    first, end = (range >> FIRST_AT) & TASKS, range & TASKS
    if own:
        return first if memory.replace(at, range, range + (1 << FIRST_AT)) else -1
    return end - 1 if memory.replace(at, range, range - 1) else -1


@njit(error_model="numpy")
def _has_tasks(range):
    return (range >> FIRST_AT) & TASKS < range & TASKS


@njit(error_model="numpy")
def _take_tasks(worker, model, work):
    """Run tasks of the stage that is on until none is left to claim; gives how many."""
    cells, done = work.cells, 0
    for other in range(work.workers):
        owner = (worker + other) % work.workers
        at = cells + RANGES + owner * RANGE_BYTES
        while True:
            claimed = memory.load(at)
            if not _has_tasks(claimed):
                break
            # Where the range is still the same afterwards, these two were read of its stage.
            stage, layer = memory.load(cells + STAGE), memory.load(cells + LAYER)
            task = _claim(at, claimed, other == 0)
            if task >= 0:
                run_task(stage, layer, task, worker, model, work)
                done += 1
                if worker != FIRST:
                    memory.add(cells + DONE, 1)
    return done


@njit(error_model="numpy")
def _is_alone(cells):
    return memory.nanoseconds() < memory.load(cells + ALONE_UNTIL)


@njit(error_model="numpy")
def _run_stage(stage, layer, model, work):
    tasks, cells = tasks_of(stage, model, work), work.cells
    if work.workers == 1 or tasks < FEW_TASKS or _is_alone(cells):
        for task in range(tasks):
            run_task(stage, layer, task, FIRST, model, work)
        return
    memory.store(cells + STAGE, stage)
    memory.store(cells + LAYER, layer)
    memory.store(cells + DONE, 0)
    begun = memory.nanoseconds()
    _share_out(tasks, cells, work.workers)
    own = _take_tasks(FIRST, model, work)
    if memory.load(cells + DONE) < tasks - own:
        _await(tasks - own, begun, own, cells)


@njit(error_model="numpy")
def _await(others, begun, own, cells):
    """Wait until the helpers have done so many tasks; take note if it is long."""
    waiting_since = memory.nanoseconds()
    patience = max(LATE_NS, LATE_TASKS * (waiting_since - begun) // max(1, own))
    waited = np.int64(0)
    while memory.load(cells + DONE) < others:
        waited = memory.nanoseconds() - waiting_since
        if waited < patience:
            memory.pause()
        else:
            memory.give_way()
    if waited >= patience:
        memory.store(cells + ALONE_UNTIL, waiting_since + (1 + TIMES_ALONE) * waited)


@njit(error_model="numpy")
def _run_pass(model, work):
    """The pass that `work` describes, with whatever help comes."""
    memory.store(work.cells + RUNNING, 1)
    stage, layer = EMBED, FIRST
    while stage <= PREDICT:
        _run_stage(stage, layer, model, work)
        stage += 1
        if stage == LAST_NORM and layer < model.layers - 1:
            stage, layer = ATTENTION_NORM, layer + 1
    memory.store(work.cells + RUNNING, 0)


@njit(error_model="numpy")
def _help_out(worker, model, work):
    """Take tasks until none has come for a while and no pass is on."""
    cells = work.cells
    spins = 0
    while spins < SPINS or memory.load(cells + RUNNING):
        if _take_tasks(worker, model, work):
            spins = 0
            continue
        spins += 1
        alone = memory.load(cells + ALONE_UNTIL) - memory.nanoseconds()
        if alone > 0:
            memory.nap(min(alone, LONGEST_NAP_NS))
            spins = SPINS
        elif spins < SPINS:
            memory.pause()
        else:
            memory.give_way()


@njit(error_model="numpy", nogil=True, cache=True)
def take_part(worker, model, work):
    """Run a pass, as worker 0, or help with those that are run.

    One function, so that all threads run the same compiled object, whichever process made it.
    """
    if worker == FIRST:
        _run_pass(model, work)
    else:
        _help_out(worker, model, work)


class Team:
    """The helpers of one model. `run` is called by one thread at a time.

    They keep the memory that they work in, as one may still look into it after `close`.
    """

    def __init__(self, model: Record, work: Record, *, helpers: int) -> None:
        self._model, self._work = model, work
        self._cells: NDArray[np.int64] = work.arrays["cells"]
        self._desks = [_Desk() for _ in range(helpers)]
        self._threads = [
            threading.Thread(
                target=_attend_desk,
                args=(desk, number, model, work),
                name="kernels",
                daemon=True,
            )
            for number, desk in enumerate(self._desks, 1)
        ]
        for thread in self._threads:
            thread.start()

    def run(self) -> None:
        for desk in self._desks:
            desk.ring()
        take_part(FIRST, self._model.view, self._work.view)

    def run_alone(self) -> None:
        """Run a pass without the helpers."""
        self._cells[ALONE_UNTIL // 8] = np.iinfo(np.int64).max
        self.run()
        self._cells[ALONE_UNTIL // 8] = 0

    def close(self) -> None:
        """Send the helpers home and wait for them. Must not be called during a pass.

        A thread that comes back from compiled code when the interpreter has ended is an abort.
        """
        for desk in self._desks:
            desk.closed = True
            desk.ring()
        for thread in self._threads:
            if thread is not threading.current_thread():  # whose garbage collection closes this
                thread.join()


class _Desk:
    """Where one helper sleeps until it is rung for."""

    def __init__(self) -> None:
        self._bell = threading.Lock()  # free: it was rung
        self._bell.acquire()
        self.closed = False

    def ring(self) -> None:
        """Wake the helper, or have one that is about to sleep look once more. From one thread."""
        if self._bell.locked():
            self._bell.release()

    def sleep(self) -> None:
        self._bell.acquire()


def _attend_desk(desk: _Desk, worker: int, model: Record, work: Record) -> None:
    while True:
        desk.sleep()
        if desk.closed:
            return
        take_part(worker, model.view, work.view)
