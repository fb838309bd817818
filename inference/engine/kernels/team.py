"""
Threads that share the tasks of a pass: one runs it, and helpers take tasks where they can.

Tasks are claimed one by one from a ticket: an int64 that holds the number of the stage and how
many of its tasks are left. A helper that the system keeps from running claims nothing, so a busy
core costs its share and no more; which thread takes a task changes no result. One that is
stopped in the middle of a task holds the others up, though, for as long as the system likes: after
that the passes are run alone for a while. Between passes a helper waits actively for a moment,
then sleeps.
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

# Cells, by their place in bytes; those that both sides write lie in cache lines of their own.
TICKET, DONE, STAGE, LAYER, RUNNING, PASSES_ALONE = 0, 128, 256, 264, 384, 392
CELL_BYTES = 512
# A ticket: the stage's number, how many tasks it has, and how many of them are left.
NUMBER_AT, TASKS_AT, COUNT = 40, 20, (1 << 20) - 1

SPINS = 20_000  # pauses, each some 20 to 40 ns
LATE = 4_000  # pauses, many times what a task takes
ALONE = 32  # passes, after a helper was late
FIRST = np.int64(0)  # layer, and worker: the one that runs the pass
FEW_TASKS = 4  # fewer are done before a helper has seen them


@njit(error_model="numpy")
def _task_of(ticket):
    """The next task of a ticket: they go up, as memory is read ahead. -1: none is left."""
    left = ticket & COUNT
    return ((ticket >> TASKS_AT) & COUNT) - left if left else -1


@njit(error_model="numpy")
def _claim(cells):
    """The number of a task that nobody else has; -1: none is left."""
    while True:
        ticket = memory.load(cells + TICKET)
        task = _task_of(ticket)
        if task < 0 or memory.replace(cells + TICKET, ticket, ticket - 1):
            return task


@njit(error_model="numpy")
def _run_stage(stage, layer, model, work):
    tasks = tasks_of(stage, model, work)
    cells = work.cells
    alone = work.workers == 1 or tasks < FEW_TASKS or memory.load(cells + PASSES_ALONE) > 0
    if not alone:
        memory.store(cells + STAGE, stage)
        memory.store(cells + LAYER, layer)
        memory.store(cells + DONE, 0)
        number = (memory.load(cells + TICKET) >> NUMBER_AT) + 1
        memory.store(cells + TICKET, (number << NUMBER_AT) | (tasks << TASKS_AT) | tasks)
    done = 0
    while True:
        task = done if alone else _claim(cells)
        if task < 0 or done == tasks:
            break
        run_task(stage, layer, task, FIRST, model, work)
        done += 1
        if not alone:
            memory.add(cells + DONE, 1)
    spins = 0
    while not alone and memory.load(cells + DONE) < tasks:
        spins += 1
        if spins < LATE:
            memory.pause()
        else:
            memory.store(cells + PASSES_ALONE, ALONE)
            memory.give_way()


@njit(error_model="numpy")
def _run_pass(model, work):
    """The pass that `work` describes, with whatever help comes."""
    alone = memory.load(work.cells + PASSES_ALONE)
    if alone > 0:
        memory.store(work.cells + PASSES_ALONE, alone - 1)
    else:
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
    while spins < SPINS or (memory.load(cells + RUNNING) and not memory.load(cells + PASSES_ALONE)):
        ticket = memory.load(cells + TICKET)
        task = _task_of(ticket)
        if task < 0:
            spins += 1
            if spins % SPINS:
                memory.pause()
            else:
                memory.give_way()
            continue
        # Where the ticket is still the same afterwards, these two were read of its stage.
        stage, layer = memory.load(cells + STAGE), memory.load(cells + LAYER)
        if memory.replace(cells + TICKET, ticket, ticket - 1):
            run_task(stage, layer, task, worker, model, work)
            memory.add(cells + DONE, 1)
            spins = 0


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
        alone = self._cells[PASSES_ALONE // 8] > 0
        for desk in self._desks:
            if desk.asleep and not alone:
                desk.asleep = False
                desk.bell.release()
        take_part(FIRST, self._model.view, self._work.view)

    def run_alone(self) -> None:
        """Run a pass without the helpers."""
        before, self._cells[PASSES_ALONE // 8] = self._cells[PASSES_ALONE // 8], 1
        self.run()
        self._cells[PASSES_ALONE // 8] = before

    def close(self) -> None:
        """Send the helpers home and wait for them. Must not be called during a pass.

        A thread that comes back from compiled code when the interpreter has ended is an abort.
        """
        for desk in self._desks:
            desk.closed = True
            desk.bell.release()
        for thread in self._threads:
            if thread is not threading.current_thread():  # whose garbage collection closes this
                thread.join()


class _Desk:
    """Where one helper sleeps."""

    def __init__(self) -> None:
        self.bell = threading.Semaphore(0)
        self.asleep = True
        self.closed = False


def _attend_desk(desk: _Desk, worker: int, model: Record, work: Record) -> None:
    while True:
        desk.bell.acquire()
        if desk.closed:
            return
        take_part(worker, model.view, work.view)
        desk.asleep = True
