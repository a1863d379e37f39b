// The counters of the fake: a chip FAKE1 (and GH100, the same) with a few metrics, of which four of
// a hardware unit fit into a pass. A counter counts the kernels launched while it counts, times a
// number of its own; a sample has the how many-th it is.
//
// Faults, from the environment: FAKE_COUNTERS_REFUSE=CALL:RESULT fails that call (cuptiProfiler is
// left out: RangeProfilerStart:35), FAKE_COUNTERS_MISSING=METRIC is one that the chip lacks,
// FAKE_COUNTERS_DROP=N loses the N-th decoding of samples to an overrun, FAKE_COUNTERS_SLOW_MS=N is
// what it takes to begin with counting, FAKE_COUNTERS_VALUES=METRIC=NUMBER,... has other numbers of
// a kernel.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "counters/profiler_abi.h"
#include "fakes/fake_cuda.h"
#include "fakes/fake_cupti.h"

using namespace batchlight::counters;

namespace {

constexpr size_t kOfAUnit = 4;
constexpr uint32_t kInvalid = 1, kInvalidOperation = 7, kInvalidMetric = 17, kUnknownChip = 46,
                   kUnknown = 999;

const char* const kChips[] = {"FAKE1", "GH100"};
// Base names; any roll-up of one is a metric.
const char* const kBases[] = {"gpu__time_duration",
                              "sm__cycles_elapsed",
                              "sm__cycles_active",
                              "sm__inst_executed",
                              "sm__warps_active",
                              "sm__pipe_tensor_cycles_active",
                              "dram__bytes_read",
                              "dram__bytes_write",
                              "dram__read_throughput",
                              "dram__write_throughput",
                              "lts__t_sectors",
                              "l1tex__t_sector_hit_rate",
                              "smsp__issue_active",
                              "gr__cycles_active",
                              "sm__ops_path_tensor_src_bf16_dst_fp32",
                              "sm__ops_path_tensor_op_hgmma_src_bf16_dst_fp32_sparsity_off",
                              "dram__throughput",
                              "l1tex__data_pipe_lsu_wavefronts",
                              "sm__inst_executed_pipe_fma",
                              "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active",
                              "smsp__average_warps_issue_stalled_barrier_per_issue_active"};
constexpr size_t kBaseCount = sizeof kBases / sizeof *kBases;

// Which base a metric rolls up, from 1; 0: none.
size_t BaseOf(const std::string& metric) {
  const char* const missing = std::getenv("FAKE_COUNTERS_MISSING");
  if (missing != nullptr && metric == missing) return 0;
  const std::string base = metric.substr(0, metric.find('.'));
  for (size_t i = 0; i < kBaseCount; ++i) {
    if (base == kBases[i]) return i + 1;
  }
  return 0;
}

// What one kernel counts.
double NumberOf(const std::string& metric) {
  const char* const given = std::getenv("FAKE_COUNTERS_VALUES");
  const std::string values = "," + std::string(given == nullptr ? "" : given);
  const std::string key = "," + metric + "=";
  const size_t at = values.find(key);
  if (at == values.npos) return static_cast<double>(BaseOf(metric));
  return std::strtod(values.c_str() + at + key.size(), nullptr);
}

std::string UnitOf(const std::string& metric) { return metric.substr(0, metric.find("__")); }

struct Host {
  std::vector<std::string> metrics;
  const uint8_t* availability = nullptr;  // is read again with each metric, as CUPTI does
  bool is_broken = false;
};

// Image of a configuration: "FAKE", passes, the names.
size_t PassesOf(const std::vector<std::string>& metrics) {
  std::map<std::string, size_t> units;
  size_t most = 1;
  for (const std::string& metric : metrics) most = std::max(most, ++units[UnitOf(metric)]);
  return (most + kOfAUnit - 1) / kOfAUnit;
}

std::string ImageOf(const Host& host) {
  std::string image = "FAKE" + std::to_string(PassesOf(host.metrics)) + "\n";
  for (const std::string& metric : host.metrics) image += metric + "\n";
  return image;
}

// What a data image holds: kernels of each range, or the numbers and times of samples.
struct Data {
  char mark[8];
  uint64_t count;
  uint64_t room;
  char config[4096];  // what was counted; "": samples
  struct Entry {
    uint64_t kernels;  // or the sample's number
    uint64_t start_ns;
    uint64_t end_ns;
  } entries[];
};

Data* AsData(const void* image) {
  auto* data = static_cast<Data*>(const_cast<void*>(image));
  return std::memcmp(data->mark, "FAKEDATA", 8) == 0 ? data : nullptr;
}

struct Profiler {
  std::string config;  // the first one that it was told: later ones change nothing, as in CUPTI
  bool is_configured = false;
  bool is_counting = false;
  bool is_open = false;  // a range
  bool each_kernel = false;
  bool met_graph = false;
  bool is_replayed = false;
  uint64_t kernels_before = 0;
  std::vector<uint64_t> ranges;
  Data* data = nullptr;
};

struct Sampler {
  bool is_running = false;
  uint64_t interval_ns = 0;
  uint64_t last_ns = 0;
  uint64_t number = 0;
  uint64_t decodes = 0;
};

std::atomic<uint64_t> g_kernels{0};
std::atomic<int> g_enabled{0};
std::atomic<bool> g_is_initialized{false};
Profiler g_profiler;
Sampler g_samplers[4];

uint64_t RealtimeNs() {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                   std::chrono::system_clock::now().time_since_epoch())
                                   .count());
}

#define REFUSED(call) \
  if (const uint32_t refusal = fake_cupti::Refusal(call)) return refusal

}  // namespace

namespace fake_cupti {

uint32_t Refusal(const char* call) {
  const char* const refuse = std::getenv("FAKE_COUNTERS_REFUSE");
  if (refuse == nullptr) return 0;
  const size_t bytes = std::strlen(call);
  if (std::strncmp(refuse, call, bytes) != 0 || refuse[bytes] != ':') return 0;
  return static_cast<uint32_t>(std::strtoul(refuse + bytes + 1, nullptr, 10));
}

void CountKernel() {
  g_kernels.fetch_add(1);
  Profiler& profiler = g_profiler;
  if (!profiler.is_counting || !profiler.each_kernel || profiler.met_graph) return;
  // Those beyond the room are not even told of.
  if (profiler.ranges.size() < profiler.data->room) profiler.ranges.push_back(1);
}

size_t RunsOfKernel() {
  const Profiler& profiler = g_profiler;
  if (!profiler.is_counting || !profiler.is_replayed) return 0;
  return std::strtoul(profiler.config.c_str() + 4, nullptr, 10);
}

void CountGraph() {
  CountKernel();  // of its kernels no one sees more than the whole
  g_profiler.met_graph = true;
}

}  // namespace fake_cupti

extern "C" {

int fake_counters_enabled() { return g_enabled; }

uint32_t cuptiProfilerInitialize(InitializeParams*) {
  REFUSED("Initialize");
  g_is_initialized = true;
  return kSuccess;
}

uint32_t cuptiDeviceGetChipName(ChipNameParams* params) {
  params->chip = kChips[0];
  return kSuccess;
}

uint32_t cuptiProfilerGetCounterAvailability(AvailabilityParams* params) {
  REFUSED("GetCounterAvailability");
  if (!g_is_initialized || params->context == nullptr) return kInvalidOperation;
  params->image_bytes = 16;
  if (params->image != nullptr) std::memcpy(params->image, "FAKEAVAILABILITY", 16);
  return kSuccess;
}

// --- on the host ---------------------------------------------------------------------------------
uint32_t cuptiProfilerHostInitialize(HostInitializeParams* params) {
  REFUSED("HostInitialize");
  for (const char* chip : kChips) {
    if (params->chip == nullptr || std::strcmp(params->chip, chip) != 0) continue;
    params->host = new Host{.availability = params->availability};
    return kSuccess;
  }
  return kUnknownChip;
}

uint32_t cuptiProfilerHostDeinitialize(HostDeinitializeParams* params) {
  delete static_cast<Host*>(params->host);
  return kSuccess;
}

uint32_t cuptiProfilerHostGetSupportedChips(SupportedChipsParams* params) {
  REFUSED("HostGetSupportedChips");
  params->names = kChips;
  params->count = 2;
  return kSuccess;
}

uint32_t cuptiProfilerHostGetBaseMetrics(BaseMetricsParams* params) {
  params->names = const_cast<const char**>(kBases);
  params->count = params->type == kCounterMetric ? kBaseCount : 0;
  return kSuccess;
}

uint32_t cuptiProfilerHostGetMetricProperties(MetricPropertiesParams* params) {
  params->description = "a metric of the fake";
  params->dimension = "thing";
  return kSuccess;
}

uint32_t cuptiProfilerHostConfigAddMetrics(AddMetricsParams* params) {
  Host& host = *static_cast<Host*>(params->host);
  if (host.availability != nullptr && std::memcmp(host.availability, "FAKEAVAILABILITY", 16) != 0) {
    return kInvalid;  // it was freed
  }
  for (size_t i = 0; i < params->count; ++i) {
    if (BaseOf(params->names[i]) == 0) host.is_broken = true;
    host.metrics.push_back(params->names[i]);
  }
  return host.is_broken ? kInvalidMetric : kSuccess;
}

uint32_t cuptiProfilerHostGetConfigImageSize(ConfigImageSizeParams* params) {
  const Host& host = *static_cast<Host*>(params->host);
  if (host.is_broken) return kInvalidOperation;
  params->image_bytes = ImageOf(host).size();
  return kSuccess;
}

uint32_t cuptiProfilerHostGetConfigImage(ConfigImageParams* params) {
  const std::string image = ImageOf(*static_cast<Host*>(params->host));
  if (params->image_bytes < image.size()) return kInvalid;
  std::memcpy(params->image, image.data(), image.size());
  return kSuccess;
}

uint32_t cuptiProfilerHostGetNumOfPasses(PassesParams* params) {
  params->passes = std::strtoul(reinterpret_cast<const char*>(params->image) + 4, nullptr, 10);
  return kSuccess;
}

uint32_t cuptiProfilerHostEvaluateToGpuValues(EvaluateParams* params) {
  REFUSED("HostEvaluateToGpuValues");
  const Data* const data = AsData(params->data);
  if (data == nullptr || params->range >= data->count) return kInvalid;
  for (size_t i = 0; i < params->count; ++i) {
    const double number = NumberOf(params->names[i]);
    const bool is_counted =
        data->config[0] == 0 || std::strstr(data->config, params->names[i]) != nullptr;
    params->values[i] = is_counted
                            ? number * static_cast<double>(data->entries[params->range].kernels)
                            : std::numeric_limits<double>::quiet_NaN();
  }
  return kSuccess;
}

// --- ranges --------------------------------------------------------------------------------------
uint32_t cuptiRangeProfilerEnable(RangeEnableParams* params) {
  REFUSED("RangeProfilerEnable");
  if (fake_cupti::IsInCallback()) std::abort();
  if (!g_is_initialized) return kInvalidOperation;
  g_profiler = Profiler();
  g_enabled.fetch_add(1);
  params->profiler = &g_profiler;
  return kSuccess;
}

uint32_t cuptiRangeProfilerDisable(RangeObjectParams*) {
  g_enabled.fetch_sub(1);
  g_profiler = Profiler();
  return kSuccess;
}

uint32_t cuptiRangeProfilerGetCounterDataSize(RangeDataSizeParams* params) {
  params->data_bytes = sizeof(Data) + params->most_ranges * sizeof(Data::Entry);
  return kSuccess;
}

uint32_t cuptiRangeProfilerCounterDataImageInitialize(DataInitializeParams* params) {
  auto* const data = reinterpret_cast<Data*>(params->data);
  std::memset(params->data, 0, params->data_bytes);
  std::memcpy(data->mark, "FAKEDATA", 8);
  data->room = (params->data_bytes - sizeof(Data)) / sizeof(Data::Entry);
  return kSuccess;
}

uint32_t cuptiRangeProfilerSetConfig(RangeConfigParams* params) {
  REFUSED("RangeProfilerSetConfig");
  const bool is_replayed = params->replay == kKernelReplay;
  const size_t mark_bytes = is_replayed ? 4 : 5;  // and the one pass that others have
  if (params->config == nullptr) return kInvalid;
  if (std::memcmp(params->config, "FAKE1", mark_bytes) != 0) return kInvalid;
  if (params->target_nesting_level != 1) return kInvalid;
  if (!is_replayed && params->replay != kUserReplay) return kInvalid;
  if (params->range != kAutoRange && (is_replayed || params->range != kUserRange)) return kInvalid;
  if (g_profiler.config.empty()) {
    g_profiler.config.assign(reinterpret_cast<const char*>(params->config), params->config_bytes);
  }
  g_profiler.is_configured = true;
  g_profiler.each_kernel = params->range == kAutoRange;
  g_profiler.is_replayed = is_replayed;
  g_profiler.ranges.clear();  // what is started again goes on with the next range
  g_profiler.data = AsData(params->data);
  return g_profiler.data != nullptr ? kSuccess : kInvalid;
}

uint32_t cuptiRangeProfilerStart(RangeObjectParams*) {
  REFUSED("RangeProfilerStart");
  if (!g_profiler.is_configured || g_profiler.is_counting) return kInvalidOperation;
  if (const char* const slow = std::getenv("FAKE_COUNTERS_SLOW_MS")) {
    std::this_thread::sleep_for(std::chrono::milliseconds(std::atoi(slow)));
  }
  g_profiler.is_counting = true;
  g_profiler.met_graph = false;
  return kSuccess;
}

uint32_t cuptiRangeProfilerPushRange(PushRangeParams*) {
  REFUSED("RangeProfilerPushRange");
  Profiler& profiler = g_profiler;
  if (!profiler.is_counting || profiler.each_kernel || profiler.is_open) return kInvalidOperation;
  if (profiler.ranges.size() >= profiler.data->room) return kInvalidOperation;
  profiler.is_open = true;
  profiler.kernels_before = g_kernels;
  return kSuccess;
}

uint32_t cuptiRangeProfilerPopRange(RangeObjectParams*) {
  Profiler& profiler = g_profiler;
  if (!profiler.is_open) return kInvalidOperation;
  profiler.is_open = false;
  profiler.ranges.push_back(g_kernels - profiler.kernels_before);
  return kSuccess;
}

uint32_t cuptiRangeProfilerStop(RangeStopParams* params) {
  if (!g_profiler.is_counting) return kInvalidOperation;
  g_profiler.is_counting = false;
  params->all_passes_submitted = 1;
  // As CUPTI 13.0 on an H200: its own ranges of kernels end at the first graph.
  return g_profiler.each_kernel && g_profiler.met_graph ? kUnknown : kSuccess;
}

uint32_t cuptiRangeProfilerDecodeData(RangeDecodeParams* params) {
  REFUSED("RangeProfilerDecodeData");
  Profiler& profiler = g_profiler;
  profiler.data->count = profiler.ranges.size();
  std::snprintf(profiler.data->config, sizeof profiler.data->config, "%s", profiler.config.c_str());
  for (size_t i = 0; i < profiler.ranges.size(); ++i) {
    profiler.data->entries[profiler.ranges.size() - 1 - i].kernels = profiler.ranges[i];
  }
  params->dropped = 0;
  return kSuccess;
}

uint32_t cuptiRangeProfilerGetCounterDataInfo(RangeDataInfoParams* params) {
  const Data* const data = AsData(params->data);
  if (data == nullptr) return kInvalid;
  params->ranges = data->count;
  return kSuccess;
}

// Last range first: the order is CUPTI's own affair.
uint32_t cuptiRangeProfilerCounterDataGetRangeInfo(RangeInfoParams* params) {
  static thread_local std::string name;
  const Data* const data = AsData(params->data);
  if (data == nullptr || params->range >= data->count) return kInvalid;
  name = std::to_string(data->count - 1 - params->range);
  params->name = name.c_str();
  return kSuccess;
}

// --- samples -------------------------------------------------------------------------------------
uint32_t cuptiPmSamplingGetCounterAvailability(PmAvailabilityParams* params) {
  REFUSED("PmSamplingGetCounterAvailability");
  params->image_bytes = 16;
  if (params->image != nullptr) std::memcpy(params->image, "FAKEAVAILABILITY", 16);
  return kSuccess;
}

uint32_t cuptiPmSamplingEnable(PmEnableParams* params) {
  REFUSED("PmSamplingEnable");
  if (params->device >= 4) return 2;  // CUPTI_ERROR_INVALID_DEVICE
  g_samplers[params->device] = Sampler();
  params->sampler = &g_samplers[params->device];
  return kSuccess;
}

uint32_t cuptiPmSamplingDisable(PmObjectParams*) { return kSuccess; }

uint32_t cuptiPmSamplingSetConfig(PmConfigParams* params) {
  REFUSED("PmSamplingSetConfig");
  if (std::memcmp(params->config, "FAKE1", 5) != 0) return kInvalid;
  static_cast<Sampler*>(params->sampler)->interval_ns = params->interval;
  return kSuccess;
}

uint32_t cuptiPmSamplingStart(PmObjectParams* params) {
  REFUSED("PmSamplingStart");
  auto& sampler = *static_cast<Sampler*>(params->sampler);
  sampler.is_running = true;
  sampler.last_ns = RealtimeNs();
  return kSuccess;
}

uint32_t cuptiPmSamplingStop(PmObjectParams* params) {
  static_cast<Sampler*>(params->sampler)->is_running = false;
  return kSuccess;
}

uint32_t cuptiPmSamplingGetCounterDataSize(PmDataSizeParams* params) {
  params->data_bytes = sizeof(Data) + params->most_samples * sizeof(Data::Entry);
  return kSuccess;
}

uint32_t cuptiPmSamplingCounterDataImageInitialize(DataInitializeParams* params) {
  return cuptiRangeProfilerCounterDataImageInitialize(params);
}

uint32_t cuptiPmSamplingDecodeData(PmDecodeParams* params) {
  REFUSED("PmSamplingDecodeData");
  auto& sampler = *static_cast<Sampler*>(params->sampler);
  Data* const data = AsData(params->data);
  if (data == nullptr) return kInvalid;
  const char* const drop = std::getenv("FAKE_COUNTERS_DROP");
  ++sampler.decodes;
  params->overflow = drop != nullptr && sampler.decodes == std::strtoul(drop, nullptr, 10) ? 1 : 0;
  const uint64_t now = RealtimeNs();
  params->stop = kEndOfRecords;
  while (sampler.last_ns + sampler.interval_ns <= now) {
    if (data->count == data->room) {
      params->stop = kCounterDataFull;
      break;
    }
    data->entries[data->count++] = {++sampler.number, sampler.last_ns,
                                    sampler.last_ns + sampler.interval_ns};
    sampler.last_ns += sampler.interval_ns;
  }
  return kSuccess;
}

uint32_t cuptiPmSamplingGetCounterDataInfo(PmDataInfoParams* params) {
  const Data* const data = AsData(params->data);
  if (data == nullptr) return kInvalid;
  params->total = data->room;
  params->populated = params->completed = data->count;
  return kSuccess;
}

uint32_t cuptiPmSamplingCounterDataGetSampleInfo(PmSampleInfoParams* params) {
  const Data* const data = AsData(params->data);
  if (data == nullptr || params->sample >= data->count) return kInvalid;
  params->start_ns = data->entries[params->sample].start_ns;
  params->end_ns = data->entries[params->sample].end_ns;
  return kSuccess;
}

uint32_t cuptiGetContextId(void*, uint32_t* id) {
  *id = 1;
  return kSuccess;
}
uint32_t cuptiGetDeviceId(void*, uint32_t* id) {
  *id = 0;
  return kSuccess;
}

}  // extern "C"
