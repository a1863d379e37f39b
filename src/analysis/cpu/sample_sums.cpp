#include "analysis/cpu/sample_sums.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <tuple>

namespace batchlight {
namespace {

constexpr std::string_view kInlined = " (inlined)";

struct FunctionKey {
  NativeModuleId module;
  StringId function;
  YesNo inlined = YesNo::kNo;
  friend auto operator<=>(const FunctionKey&, const FunctionKey&) = default;
};

FunctionKey KeyOf(const Store& store, NativeStackId stack) {
  const NativeFrameId frame = store.native_stacks.frame[stack.row()];
  if (frame.IsNone()) return {};
  const NativeFramesRow row = store.native_frames.Row(frame.row());
  return {row.module, row.function, row.inlined};
}

// Self and total time for the keys of stacks: key_of(stack) of each frame.
template <typename Sum, typename KeyOfFrame>
auto SumByKey(const Store& store, const std::vector<SampledStack>& stacks, KeyOfFrame&& key_of) {
  using Key = decltype(key_of(NativeStackId()));
  std::map<Key, Sum> sums;
  std::vector<Key> seen;
  for (const SampledStack& sampled : stacks) {
    if (sampled.stack.IsNone()) continue;
    Sum& own = sums[key_of(sampled.stack)];
    own.samples += sampled.samples;
    own.self_ns += sampled.cpu_ns;
    seen.clear();
    for (NativeStackId at = sampled.stack; !at.IsNone();
         at = store.native_stacks.parent[at.row()]) {
      seen.push_back(key_of(at));
    }
    std::sort(seen.begin(), seen.end());
    seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
    for (const Key& key : seen) sums[key].total_ns += sampled.cpu_ns;
  }
  return sums;
}

std::string_view BaseName(std::string_view path) {
  return path.substr(path.rfind('/') == path.npos ? 0 : path.rfind('/') + 1);
}

}  // namespace

std::vector<SampledStack> SumSamplesByStack(const Store& store) {
  const CpuSamplesTable& samples = store.cpu_samples;
  std::vector<uint32_t> order(samples.size());
  for (size_t row = 0; row < order.size(); ++row) order[row] = static_cast<uint32_t>(row);
  const auto key = [&](uint32_t row) {
    return std::pair(samples.thread[row], samples.native_stack[row]);
  };
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return key(a) < key(b); });
  std::vector<SampledStack> sums;
  for (const uint32_t row : order) {
    if (sums.empty() || std::pair(sums.back().thread, sums.back().stack) != key(row)) {
      sums.push_back({.thread = samples.thread[row], .stack = samples.native_stack[row]});
    }
    ++sums.back().samples;
    sums.back().cpu_ns += samples.cpu_ns[row];
  }
  return sums;
}

std::vector<FunctionSum> SumSamplesByFunction(const Store& store) {
  return SumStacksByFunction(store, SumSamplesByStack(store));
}

std::vector<FunctionSum> SumStacksByFunction(const Store& store,
                                             const std::vector<SampledStack>& stacks) {
  const auto key_of = [&](NativeStackId stack) { return KeyOf(store, stack); };
  std::vector<FunctionSum> result;
  for (auto& [key, sum] : SumByKey<FunctionSum>(store, stacks, key_of)) {
    result.push_back(sum);
    result.back().function = key.function;
    result.back().module = key.module;
    result.back().inlined = key.inlined == YesNo::kYes;
  }
  std::map<FunctionKey, std::set<ThreadId>> threads;
  for (const SampledStack& sampled : stacks) {
    if (!sampled.stack.IsNone()) threads[KeyOf(store, sampled.stack)].insert(sampled.thread);
  }
  for (FunctionSum& sum : result) {
    const auto found =
        threads.find({sum.module, sum.function, sum.inlined ? YesNo::kYes : YesNo::kNo});
    if (found != threads.end()) sum.threads = found->second.size();
  }
  std::sort(result.begin(), result.end(), [&](const FunctionSum& a, const FunctionSum& b) {
    return std::tuple(-a.self_ns, -a.total_ns, store.Text(a.function), a.module, a.inlined) <
           std::tuple(-b.self_ns, -b.total_ns, store.Text(b.function), b.module, b.inlined);
  });
  return result;
}

std::vector<ModuleSum> SumSamplesByModule(const Store& store) {
  const auto key_of = [&](NativeStackId stack) { return KeyOf(store, stack).module; };
  std::vector<ModuleSum> result;
  for (auto& [module, sum] : SumByKey<ModuleSum>(store, SumSamplesByStack(store), key_of)) {
    result.push_back(sum);
    result.back().module = module;
  }
  std::sort(result.begin(), result.end(), [](const ModuleSum& a, const ModuleSum& b) {
    return std::tuple(-a.self_ns, -a.total_ns, a.module) <
           std::tuple(-b.self_ns, -b.total_ns, b.module);
  });
  return result;
}

std::string ModuleName(const Store& store, NativeModuleId module) {
  if (module.IsNone()) return "[no file]";
  return std::string(BaseName(store.Text(store.native_modules.path[module.row()])));
}

std::string NativeFunctionName(const Store& store, const FunctionSum& sum) {
  if (sum.function.IsNone()) return "[unknown]";
  std::string name(store.Text(sum.function));
  if (sum.inlined) name += kInlined;
  return name;
}

std::string FrameName(const Store& store, NativeFrameId frame) {
  if (frame.IsNone()) return "[unknown]";
  const NativeFramesTable& frames = store.native_frames;
  const StringId function = frames.function[frame.row()];
  if (!function.IsNone()) {
    std::string name(store.Text(function));
    if (frames.inlined[frame.row()] == YesNo::kYes) name += kInlined;
    return name;
  }
  char address[32];
  std::snprintf(address, sizeof address, "+0x%" PRIx64, frames.address[frame.row()]);
  return ModuleName(store, frames.module[frame.row()]) + address;
}

}  // namespace batchlight
