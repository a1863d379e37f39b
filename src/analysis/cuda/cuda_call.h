// What the name of a CUDA runtime or driver call says about it.
#pragma once

#include <cstdint>
#include <string_view>

namespace batchlight {

// The name for people, without the version and the thread-default-stream suffix:
// cudaLaunchKernel_ptsz_v7000 is cudaLaunchKernel.
inline std::string_view PlainApiName(std::string_view name) {
  const size_t version = name.rfind("_v");
  if (version != name.npos && version + 2 < name.size() &&
      name.find_first_not_of("0123456789", version + 2) == name.npos) {
    name = name.substr(0, version);
  }
  for (const std::string_view suffix : {"_ptsz", "_ptds"}) {
    if (name.ends_with(suffix)) name.remove_suffix(suffix.size());
  }
  return name;
}

// True for calls that return only once the GPU has finished something: cudaStreamSynchronize, ...
bool IsWaitingCall(std::string_view api_name);

// True for calls that have the GPU run kernels: cudaLaunchKernel, cuLaunchKernelEx,
// cudaGraphLaunch.
bool IsLaunch(std::string_view api_name);

// A launch that takes longer waits for room in the GPU's queue.
inline constexpr int64_t kLongLaunchNs = 50'000;

// True for calls that give the GPU work of any kind, kernels, copies or memory sets. Where its
// queue is full, they wait for room.
bool GivesWork(std::string_view api_name);

}  // namespace batchlight
