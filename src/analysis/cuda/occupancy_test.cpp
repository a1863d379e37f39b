#include "analysis/cuda/occupancy.h"

#include <gtest/gtest.h>

namespace batchlight {
namespace {

// NVIDIA H200, compute capability 9.0.
GpusRow H200() {
  GpusRow gpu;
  gpu.compute_major = 9;
  gpu.sm_count = 132;
  gpu.max_threads_per_sm = 2048;
  gpu.max_blocks_per_sm = 32;
  gpu.max_registers_per_sm = 65536;
  gpu.max_shared_bytes_per_sm = 233472;
  gpu.warp_threads = 32;
  return gpu;
}

KernelLaunchesRow Launch(uint32_t grid, uint32_t block, uint32_t registers, uint32_t shared) {
  KernelLaunchesRow launch;
  launch.grid_x = grid;
  launch.block_x = block;
  launch.grid_y = launch.grid_z = launch.block_y = launch.block_z = 1;
  launch.registers_per_thread = registers;
  launch.dynamic_shared_bytes = shared;
  return launch;
}

TEST(Occupancy, SmallKernelsAreLimitedByWarps) {
  const Occupancy found = TheoreticalOccupancy(Launch(1000, 128, 32, 0), H200());
  EXPECT_EQ(found.blocks_per_sm, 16u);
  EXPECT_DOUBLE_EQ(found.fraction, 1.0);
  EXPECT_EQ(found.limiter, "warps");
}

TEST(Occupancy, ManyRegistersLimit) {
  // 255 registers a thread: 32 * 255 rounds up to 8192 a warp, 8 warps of 65536.
  const Occupancy found = TheoreticalOccupancy(Launch(1000, 128, 255, 0), H200());
  EXPECT_EQ(found.blocks_per_sm, 2u);
  EXPECT_EQ(found.limiter, "registers");
  EXPECT_DOUBLE_EQ(found.fraction, 8.0 / 64);
}

TEST(Occupancy, LargeSharedMemoryLimits) {
  const Occupancy found = TheoreticalOccupancy(Launch(132, 384, 168, 200 * 1024), H200());
  EXPECT_EQ(found.blocks_per_sm, 1u);
}

TEST(Occupancy, WavesAndTail) {
  // 16 blocks an SM, 2112 a wave: 1.5 waves leave half the GPU idle in the second.
  const Occupancy found = TheoreticalOccupancy(Launch(3168, 128, 32, 0), H200());
  EXPECT_DOUBLE_EQ(found.waves, 1.5);
  EXPECT_DOUBLE_EQ(found.tail_fraction, 0.25);
}

TEST(Occupancy, UnknownGpuGivesNothing) {
  EXPECT_EQ(TheoreticalOccupancy(Launch(1, 32, 32, 0), GpusRow{}).blocks_per_sm, 0u);
}

}  // namespace
}  // namespace batchlight
