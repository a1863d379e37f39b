// Call chains of nsys's file as native stacks, and what has them: samples, CUDA calls, OS calls.
// And switches, which come with samples.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>

#include "ingest/nsys/nsys_load.h"

namespace batchlight::nsys {

// By the number that a chain has in its table.
using ChainStacks = std::unordered_map<int64_t, NativeStackId>;

// Chains number the frames and stacks of the store together, so one job loads them all. Of an
// export of ours nothing is loaded: it has the store's own tables.
class CallChains {
 public:
  explicit CallChains(Load& load);

  Status LoadSamples();  // and switches
  Status LoadCudaCalls();
  Result<ChainStacks> LoadOfOsCalls();

 private:
  template <typename Table>
  Result<ChainStacks> LoadChains(const Table& table);
  NativeFrameId FrameOf(StringId symbol, StringId module, bool unresolved, bool of_kernel,
                        int64_t address);
  NativeStackId StackOf(NativeFrameId frame, NativeStackId parent);

  Load& load_;
  bool is_own_;
  std::map<std::pair<StringId, bool>, NativeModuleId> modules_;
  std::map<std::pair<NativeModuleId, uint64_t>, NativeFrameId> frames_;
  std::map<std::pair<NativeFrameId, NativeStackId>, NativeStackId> stacks_;
};

}  // namespace batchlight::nsys
