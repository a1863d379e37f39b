"""A kernel of our own, compiled by Triton with source lines."""
import triton
import triton.language as tl


@triton.jit
def gather(table, index, out, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    place = tl.load(index + at)
    value = tl.load(table + place)  # far apart
    twice = value * 2 + 1  # HOT: waits for the line before
    tl.store(out + at, twice)
