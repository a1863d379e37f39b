#include "analysis/cuda/occupancy.h"

#include <algorithm>
#include <cmath>

namespace batchlight {
namespace {

constexpr uint32_t kRegisterUnit = 256;     // registers of a warp are allocated in these steps
constexpr uint32_t kSharedUnitBytes = 128;  // shared memory of a block, compute capability 8 and up
constexpr uint32_t kSharedReservedBytes = 1024;  // taken by the system per block, 8.0 and up

uint64_t RoundUp(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

uint32_t Clamp(uint64_t blocks) {
  return static_cast<uint32_t>(std::min<uint64_t>(blocks, 1u << 16));
}

}  // namespace

Occupancy TheoreticalOccupancy(const KernelLaunchesRow& launch, const GpusRow& gpu) {
  Occupancy result;
  const uint32_t warp = gpu.warp_threads;
  const uint64_t threads = uint64_t{launch.block_x} * launch.block_y * launch.block_z;
  if (warp == 0 || gpu.max_threads_per_sm == 0 || gpu.sm_count == 0 || threads == 0) return result;
  const uint64_t warps = (threads + warp - 1) / warp;
  const uint64_t max_warps = gpu.max_threads_per_sm / warp;

  const uint32_t by_warps = Clamp(max_warps / warps);
  const uint32_t by_blocks = gpu.max_blocks_per_sm == 0 ? Clamp(UINT64_MAX) : gpu.max_blocks_per_sm;
  uint32_t by_registers = Clamp(UINT64_MAX);
  if (launch.registers_per_thread > 0 && gpu.max_registers_per_sm > 0) {
    const uint64_t warp_registers =
        RoundUp(uint64_t{launch.registers_per_thread} * warp, kRegisterUnit);
    by_registers = Clamp(gpu.max_registers_per_sm / warp_registers / warps);
  }
  uint32_t by_shared = Clamp(UINT64_MAX);
  const uint64_t shared = uint64_t{launch.static_shared_bytes} + launch.dynamic_shared_bytes;
  if (gpu.max_shared_bytes_per_sm > 0) {
    const uint64_t reserved = gpu.compute_major >= 8 ? kSharedReservedBytes : 0;
    if (shared + reserved > 0) {
      by_shared = Clamp(gpu.max_shared_bytes_per_sm / RoundUp(shared + reserved, kSharedUnitBytes));
    }
  }
  result.blocks_per_sm = std::min({by_warps, by_blocks, by_registers, by_shared});
  result.limiter = result.blocks_per_sm == by_warps       ? "warps"
                   : result.blocks_per_sm == by_registers ? "registers"
                   : result.blocks_per_sm == by_shared    ? "shared memory"
                                                          : "blocks";
  if (result.blocks_per_sm == 0) return result;
  result.warps_per_sm = static_cast<uint32_t>(result.blocks_per_sm * warps);
  result.fraction = static_cast<double>(result.warps_per_sm) / static_cast<double>(max_warps);

  const double blocks = static_cast<double>(launch.grid_x) * launch.grid_y * launch.grid_z;
  result.waves = blocks / (static_cast<double>(gpu.sm_count) * result.blocks_per_sm);
  const double whole = std::floor(result.waves);
  const double rest = result.waves - whole;
  if (whole >= 1 && rest > 0) result.tail_fraction = (1 - rest) / (whole + 1);
  return result;
}

}  // namespace batchlight
