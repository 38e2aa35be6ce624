"""The three steps that need more than a loop: plain, and as LLVM vectors of 64 bytes.

No instruction of one processor is named: LLVM turns them into AVX-512, AVX2, SSE2 or NEON, whatever numba compiles for.
Loops were slower: they need a check that the slots do not overlap, and a vectoriser that agrees.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

LANES = 64


def select(columns: Any, at: Any, threshold: Any, slots: Any, left: Any, right: Any, to: Any) -> None:
    """64 rows of a node: where its column is at most the threshold the left slot, else the right one."""
    goes_left = columns[at : at + LANES] <= threshold
    slots[to : to + LANES] = np.where(goes_left, slots[left : left + LANES], slots[right : right + LANES])


def select_members(masks: Any, at: Any, slots: Any, left: Any, right: Any, to: Any) -> None:
    """The same for a set: bit i of masks[at] is set where row i is a member, which goes left."""
    goes_left = np.unpackbits(masks[at : at + 1].view(np.uint8), bitorder="little").astype(bool)
    slots[to : to + LANES] = np.where(goes_left, slots[left : left + LANES], slots[right : right + LANES])


def lowest_bit(word: Any) -> Any:
    """Position of the lowest bit that is set; 64 for 0."""
    value = int(word)
    return (value & -value).bit_length() - 1 if value else 64


def _pointer(context: Any, builder: Any, signature: Any, args: Any, array: int, offset: int, vector: Any) -> Any:
    data = context.make_array(signature.args[array])(context, builder, args[array]).data
    return builder.bitcast(builder.gep(data, [args[offset]]), vector.as_pointer())


def _select() -> Any:
    from llvmlite import ir
    from numba import types
    from numba.extending import intrinsic

    @intrinsic
    def select(typing, columns, at, threshold, slots, left, right, to):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
        def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            element = ir.IntType(signature.args[0].dtype.bitwidth)
            wide, bytes_ = ir.VectorType(element, LANES), ir.VectorType(ir.IntType(8), LANES)
            undefined, lane = ir.Constant(wide, ir.Undefined), ir.Constant(ir.IntType(32), 0)
            first = builder.insert_element(undefined, builder.trunc(args[2], element), lane)
            every = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
            limit = builder.shuffle_vector(first, undefined, every)

            def load(array: int, offset: int, vector: Any) -> Any:
                return builder.load(_pointer(context, builder, signature, args, array, offset, vector), align=1)

            goes_left = builder.icmp_unsigned("<=", load(0, 1, wide), limit)
            chosen = builder.select(goes_left, load(3, 4, bytes_), load(3, 5, bytes_))
            builder.store(chosen, _pointer(context, builder, signature, args, 3, 6, bytes_), align=1)
            return context.get_dummy_value()

        return types.void(columns, types.intp, types.intp, slots, types.intp, types.intp, types.intp), build

    return select


def _select_members() -> Any:
    from llvmlite import ir
    from numba import types
    from numba.extending import intrinsic

    @intrinsic
    def select_members(typing, masks, at, slots, left, right, to):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
        def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            eight, bytes_ = ir.VectorType(ir.IntType(8), 8), ir.VectorType(ir.IntType(8), LANES)
            word = builder.load(_pointer(context, builder, signature, args, 0, 1, eight), align=1)
            places = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [i // 8 for i in range(LANES)])
            spread = builder.shuffle_vector(word, ir.Constant(eight, ir.Undefined), places)
            bits = ir.Constant(bytes_, [1 << (i % 8) for i in range(LANES)])
            goes_left = builder.icmp_unsigned("!=", builder.and_(spread, bits), ir.Constant(bytes_, [0] * LANES))

            def load(offset: int) -> Any:
                return builder.load(_pointer(context, builder, signature, args, 2, offset, bytes_), align=1)

            chosen = builder.select(goes_left, load(3), load(4))
            builder.store(chosen, _pointer(context, builder, signature, args, 2, 5, bytes_), align=1)
            return context.get_dummy_value()

        return types.void(masks, types.intp, slots, types.intp, types.intp, types.intp), build

    return select_members


def _lowest_bit() -> Any:
    from llvmlite import ir
    from numba import types
    from numba.extending import intrinsic

    @intrinsic
    def lowest_bit(typing, word):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202
        def build(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))

        return types.uint64(types.uint64), build

    return lowest_bit


INTRINSICS: dict[str, Callable[[], Any]] = {
    "select": _select,
    "select_members": _select_members,
    "lowest_bit": _lowest_bit,
}
