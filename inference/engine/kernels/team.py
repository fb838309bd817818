"""
Threads that share the tasks of a pass: one runs it, and helpers take tasks where they can.

Each thread has a range of a stage's tasks, which it claims one by one from the front, as memory is
read ahead; one that is done claims from the back of the others' ranges. A range is an int64 in
which the number of the stage stands beside the two ends. A helper that the system keeps from
running claims nothing, so a busy core costs its share and no more; which thread takes a task
changes no result. One that is stopped in the middle of a task holds the others up, though, for as
long as the system likes: after that some stages are run alone, more of them each time it happens
again soon. Between passes a helper waits actively for a moment, then sleeps.
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
# PENALTY: how many stages are run alone when a helper is late again, times FORGOTTEN_AFTER.
STAGE, LAYER, DONE, RUNNING, ALONE, PENALTY = 0, 8, 128, 256, 264, 272
RANGES, RANGE_BYTES = 384, 128  # one a worker
# A range: the stage's number, its first task that is not claimed, and the end of its tasks.
NUMBER_AT, FIRST_AT, TASKS = 40, 20, (1 << 20) - 1

SPINS = 20_000  # pauses, each some 20 to 40 ns
LATE = 25_000  # pauses: far more than a task takes, less than the system gives another its core
LEAST_ALONE, MOST_ALONE = 4, 8_192  # stages: of one layer, of many passes
FORGOTTEN_AFTER = 1_024  # shared stages, to 1/e: more than a busy core lets pass without a stop
SOON = 512  # stages alone, during which it is not worth a helper's while to sleep
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
def _run_stage(stage, layer, model, work):
    tasks, cells = tasks_of(stage, model, work), work.cells
    if work.workers == 1 or tasks < FEW_TASKS or memory.load(cells + ALONE) > 0:
        for task in range(tasks):
            run_task(stage, layer, task, FIRST, model, work)
        memory.store(cells + ALONE, max(0, memory.load(cells + ALONE) - 1))
        return
    memory.store(cells + STAGE, stage)
    memory.store(cells + LAYER, layer)
    memory.store(cells + DONE, 0)
    _share_out(tasks, cells, work.workers)
    others = tasks - _take_tasks(FIRST, model, work)
    spins, patience = 0, LATE * (1 + work.rows // 128)
    while memory.load(cells + DONE) < others:
        spins += 1
        if spins < patience:
            memory.pause()
        else:
            memory.give_way()
    penalty = max(LEAST_ALONE * FORGOTTEN_AFTER, memory.load(cells + PENALTY))
    if spins >= patience:
        memory.store(cells + ALONE, penalty // FORGOTTEN_AFTER)
        penalty = min(2 * penalty, MOST_ALONE * FORGOTTEN_AFTER)
    memory.store(cells + PENALTY, penalty - penalty // FORGOTTEN_AFTER)


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
    """Take tasks until none has come for a while and no pass needs help."""
    cells = work.cells
    spins = 0
    while spins < SPINS or (memory.load(cells + RUNNING) and memory.load(cells + ALONE) < SOON):
        if _take_tasks(worker, model, work):
            spins = 0
            continue
        spins += 1
        if spins % SPINS:
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
        if self._cells[ALONE // 8] < SOON:
            for desk in self._desks:
                desk.ring()
        take_part(FIRST, self._model.view, self._work.view)

    def run_alone(self) -> None:
        """Run a pass without the helpers."""
        before, self._cells[ALONE // 8] = self._cells[ALONE // 8], 1 << 40
        self.run()
        self._cells[ALONE // 8] = before

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
