"""
Addresses, seen from compiled code as arrays or as cells that threads share; and what threads that
wait for each other need.

Kernels pass addresses: an array of numba is ten arguments, and each slice of it would count its
references in one place that every thread writes. Nothing here owns or checks anything.
"""

from __future__ import annotations

import sys
import time
from typing import Any

from llvmlite import ir
from numba import carray, njit, types
from numba.core import cgutils
from numba.extending import intrinsic

I32, I64 = ir.IntType(32), ir.IntType(64)
TIMESPEC = ir.ArrayType(I64, 2)  # of 64-bit systems
SECOND = 1_000_000_000  # nanoseconds
ORDER = "seq_cst"  # a pass makes a few thousand atomic steps: no weaker order is worth a proof


@intrinsic
def _float_pointer(typing_context: Any, address: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.inttoptr(args[0], context.get_value_type(signature.return_type))

    return types.CPointer(types.float32)(types.int64), codegen


@intrinsic
def _int_pointer(typing_context: Any, address: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.inttoptr(args[0], context.get_value_type(signature.return_type))

    return types.CPointer(types.int64)(types.int64), codegen


@njit(error_model="numpy")
def floats(address, count):
    """The float32 numbers at an address, (count,)."""
    return carray(_float_pointer(address), count)


@njit(error_model="numpy")
def integer(address, index):
    """The int64 of that index at an address."""
    return carray(_int_pointer(address), index + 1)[index]


@intrinsic
def load(typing_context: Any, cell: Any) -> Any:
    """The int64 in a cell, and with it all that was written before that was stored."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load_atomic(_cell(builder, args[0]), ORDER, 8)

    return types.int64(types.int64), codegen


@intrinsic
def store(typing_context: Any, cell: Any, value: Any) -> Any:
    """Put a value into a cell, seen only after all that was written before."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.store_atomic(args[1], _cell(builder, args[0]), ORDER, 8)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), codegen


@intrinsic
def add(typing_context: Any, cell: Any, value: Any) -> Any:
    """Add to a cell; gives what was there before."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.atomic_rmw("add", _cell(builder, args[0]), args[1], ORDER)

    return types.int64(types.int64, types.int64), codegen


@intrinsic
def replace(typing_context: Any, cell: Any, expected: Any, value: Any) -> Any:
    """Put a value into a cell if it still holds `expected`; whether it did."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pair = builder.cmpxchg(_cell(builder, args[0]), args[1], args[2], ORDER, ORDER)
        return builder.extract_value(pair, 1)

    return types.boolean(types.int64, types.int64, types.int64), codegen


@intrinsic
def pause(typing_context: Any) -> Any:
    """Tell the processor that this thread only waits, where it has such an instruction."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        if builder.module.triple.startswith(("x86_64", "i686", "amd64")):
            _call(builder, ir.VoidType(), "llvm.x86.sse2.pause")
        return context.get_dummy_value()

    return types.void(), codegen


@intrinsic
def give_way(typing_context: Any) -> Any:
    """Let another thread have this core for a moment, where the system has sched_yield."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        if sys.platform in ("linux", "darwin"):
            _call(builder, I32, "sched_yield")
        return context.get_dummy_value()

    return types.void(), codegen


@intrinsic
def nanoseconds(typing_context: Any) -> Any:
    """A clock that only goes on; where the system has none to call, one of the processor's."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        if sys.platform not in ("linux", "darwin"):
            return builder.lshr(_call(builder, I64, "llvm.readcyclecounter"), I64(1))
        time_of_day = cgutils.alloca_once(builder, TIMESPEC)
        clock = I32(time.CLOCK_MONOTONIC)
        _call(builder, I32, "clock_gettime", clock, time_of_day)
        seconds, rest = (builder.extract_value(builder.load(time_of_day), i) for i in range(2))
        return builder.add(builder.mul(seconds, I64(SECOND)), rest)

    return types.int64(), codegen


@intrinsic
def nap(typing_context: Any, duration: Any) -> Any:
    """Sleep for so many nanoseconds, less than a second, where the system can; or a little more."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        if sys.platform in ("linux", "darwin"):
            asked = cgutils.alloca_once(builder, TIMESPEC)
            seconds_and_rest = ir.Constant(TIMESPEC, [0, 0])
            builder.store(builder.insert_value(seconds_and_rest, args[0], 1), asked)
            _call(builder, I32, "nanosleep", asked, ir.Constant(TIMESPEC.as_pointer(), None))
        return context.get_dummy_value()

    return types.void(types.int64), codegen


def _cell(builder: Any, address: Any) -> Any:
    return builder.inttoptr(address, I64.as_pointer())


def _call(builder: Any, result: Any, name: str, *args: Any) -> Any:
    function_type = ir.FunctionType(result, [arg.type for arg in args])
    return builder.call(cgutils.get_or_insert_function(builder.module, function_type, name), args)
