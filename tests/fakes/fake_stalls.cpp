// PC sampling of the fake: every kernel that is launched between a start and a stop has six samples
// on two instructions, 4 that wait for memory and 2 chosen ones, in the module that was loaded
// last.
//
// Faults, from the environment: FAKE_COUNTERS_REFUSE=PCSamplingStart:35 as for counters,
// FAKE_STALLS_FULL=1 says that the hardware's buffer was full.
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "fakes/fake_cuda.h"
#include "fakes/fake_cupti.h"
#include "inject/cupti/pc_sampling_abi.h"

using namespace batchlight::inject::cupti;

namespace {

constexpr uint32_t kInvalid = 1, kInvalidOperation = 7;
constexpr size_t kHeadBytes = offsetof(PcSamplingData, hardware_buffer_full) + 1;
const char* const kReasons[] = {"smsp__pcsamp_warps_issue_stalled_long_scoreboard",
                                "smsp__pcsamp_warps_issue_stalled_long_scoreboard_not_issued",
                                "smsp__pcsamp_warps_issue_stalled_selected"};
constexpr uint32_t kFirstIndex = 5;  // CUPTI's indices do not begin at 0

struct Sampled {
  std::string name;
  uint32_t correlation;
};

std::mutex g_mutex;
bool g_enabled = false, g_started = false, g_serialized = false;
size_t g_room = 0;
std::vector<Sampled> g_sampled;
std::atomic<uint64_t> g_module{0};  // checksum of the last that was loaded
uint64_t g_range = 0;

PcStallReason Reason(uint32_t reason, uint32_t samples) { return {kFirstIndex + reason, samples}; }

void Fill(PcData& pc, const Sampled& kernel, uint64_t offset, std::vector<PcStallReason> reasons) {
  // CUPTI says that the caller frees it; nobody does, and one name serves all.
  static std::map<std::string, char*> names;
  char*& name = names[kernel.name];
  if (name == nullptr) name = strdup(kernel.name.c_str());
  pc.cubin = g_module;
  pc.offset = offset;
  pc.function = name;
  pc.reason_count = reasons.size();
  std::copy(reasons.begin(), reasons.end(), pc.reasons);
  pc.correlation = g_serialized ? kernel.correlation : 0;
}

uint64_t CrcOf(const void* bytes, size_t count) {
  const auto* const at = static_cast<const unsigned char*>(bytes);
  uint64_t crc = 14695981039346656037u;
  for (size_t i = 0; i < count; ++i) crc = (crc ^ at[i]) * 1099511628211u;
  return crc;
}

}  // namespace

namespace fake_cupti {

void SampleKernel(const char* name, uint32_t correlation) {
  const std::lock_guard lock(g_mutex);
  if (!g_started) return;
  fake_cupti::BreakCapture();
  g_sampled.push_back({name, correlation});
}

}  // namespace fake_cupti

#define REFUSED(call)         \
  fake_cupti::BreakCapture(); \
  if (const uint32_t refusal = fake_cupti::Refusal(call)) return refusal

extern "C" {

// cuModuleLoadData: as with CUPTI, its bytes are good in the callback alone.
void fake_cuda_load_module(const void* image, uint64_t bytes) {
  std::string copy(static_cast<const char*>(image), bytes);
  ModuleData data{.module = 1, .cubin_bytes = bytes, .cubin = copy.data()};
  g_module = CrcOf(image, bytes);
  fake_cupti::InvokeResource(kModuleLoaded, &data);
  copy.assign(copy.size(), '?');
}

void fake_cuda_unload_module() {
  ModuleData data{.module = 1, .cubin_bytes = 0, .cubin = nullptr};
  fake_cupti::InvokeResource(kModuleUnloads, &data);
}

uint32_t cuptiPCSamplingEnable(PcContextParams* params) {
  REFUSED("PCSamplingEnable");
  if (params->size != sizeof *params || params->context == nullptr || g_enabled) return kInvalid;
  g_enabled = true;
  return kSuccess;
}

uint32_t cuptiPCSamplingDisable(PcContextParams*) {
  REFUSED("PCSamplingDisable");
  if (!g_enabled) return kInvalidOperation;
  g_enabled = g_started = false;
  return kSuccess;
}

uint32_t cuptiPCSamplingGetNumStallReasons(PcReasonCountParams* params) {
  *params->count = sizeof kReasons / sizeof *kReasons;
  return kSuccess;
}

uint32_t cuptiPCSamplingGetStallReasons(PcReasonsParams* params) {
  for (uint32_t i = 0; i < params->count; ++i) {
    params->indices[i] = kFirstIndex + i;
    std::strcpy(params->names[i], kReasons[i]);
  }
  return kSuccess;
}

uint32_t cuptiPCSamplingSetConfigurationAttribute(PcConfigurationParams* params) {
  REFUSED("PCSamplingSetConfigurationAttribute");
  if (!g_enabled || params->size != sizeof *params) return kInvalidOperation;
  for (size_t i = 0; i < params->count; ++i) {
    const PcConfiguration& attribute = params->attributes[i];
    if (attribute.attribute == kCollectionMode) {
      g_serialized = attribute.value.word == kKernelSerialized;
    } else if (attribute.attribute == kDataBuffer) {
      const auto* const data = static_cast<const PcSamplingData*>(attribute.value.pointer);
      if (data == nullptr || data->size < kHeadBytes || data->pcs == nullptr) return kInvalid;
      g_room = data->room;
    }
  }
  return kSuccess;
}

uint32_t cuptiPCSamplingGetConfigurationAttribute(PcConfigurationParams* params) {
  if (params->attributes->attribute != kSamplingPeriod) return kInvalid;
  params->attributes->value.word = 10;
  return kSuccess;
}

uint32_t cuptiPCSamplingStart(PcContextParams*) {
  REFUSED("PCSamplingStart");
  const std::lock_guard lock(g_mutex);
  if (!g_enabled || g_started || g_room == 0) return kInvalidOperation;
  g_started = true;
  ++g_range;
  return kSuccess;
}

uint32_t cuptiPCSamplingStop(PcContextParams*) {
  REFUSED("PCSamplingStop");
  const std::lock_guard lock(g_mutex);
  if (!g_started) return kInvalidOperation;
  g_started = false;
  return kSuccess;
}

// Two kernels at a time.
uint32_t cuptiPCSamplingGetData(PcGetDataParams* params) {
  REFUSED("PCSamplingGetData");
  const std::lock_guard lock(g_mutex);
  auto& data = *static_cast<PcSamplingData*>(params->data);
  if (!g_enabled || data.size < kHeadBytes || data.room < 4) return kInvalid;
  data.count = 0;
  const size_t kernels = std::min<size_t>(2, g_sampled.size());
  for (size_t i = 0; i < kernels; ++i) {
    Fill(data.pcs[data.count++], g_sampled[i], 0x80, {Reason(0, 4), Reason(1, 3)});
    Fill(data.pcs[data.count++], g_sampled[i], 0x50, {Reason(2, 2)});
  }
  g_sampled.erase(g_sampled.begin(), g_sampled.begin() + static_cast<ptrdiff_t>(kernels));
  data.samples = 9 * kernels;  // of which a third is lost or not ours
  data.dropped = kernels;
  data.foreign = 2 * kernels;
  data.remaining = 2 * g_sampled.size();
  data.range = g_range;
  data.hardware_buffer_full = std::getenv("FAKE_STALLS_FULL") != nullptr ? 1 : 0;
  return kSuccess;
}

uint32_t cuptiGetCubinCrc(CubinCrcParams* params) {
  if (params->cubin == nullptr || params->cubin_bytes == 0) return kInvalid;
  params->crc = CrcOf(params->cubin, params->cubin_bytes);
  return kSuccess;
}

}  // extern "C"
