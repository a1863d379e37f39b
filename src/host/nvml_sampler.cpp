#include "host/nvml_sampler.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

namespace batchlight::host {
namespace {

constexpr uint32_t kSourceNvml = 2;

struct Utilization {
  unsigned gpu;
  unsigned memory;
};

// From NVML's interface; all return 0 on success. Absent ones give no value.
struct Nvml {
  int (*init)() = nullptr;
  int (*by_uuid)(const char*, void**) = nullptr;
  int (*power_mw)(void*, unsigned*) = nullptr;
  int (*power_limit_mw)(void*, unsigned*) = nullptr;
  int (*temperature)(void*, int sensor, unsigned*) = nullptr;
  int (*clock_mhz)(void*, int type, unsigned*) = nullptr;
  int (*event_reasons)(void*, unsigned long long*) = nullptr;
  int (*utilization)(void*, Utilization*) = nullptr;
};

template <typename Function>
void Find(void* library, const char* name, Function& function) {
  if (function == nullptr) function = reinterpret_cast<Function>(dlsym(library, name));
}

const Nvml* OpenNvml() {
  static Nvml nvml;
  static bool tried = false;
  if (!tried) {
    tried = true;
    void* const library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return nullptr;
    Find(library, "nvmlInit_v2", nvml.init);
    Find(library, "nvmlDeviceGetHandleByUUID", nvml.by_uuid);
    Find(library, "nvmlDeviceGetPowerUsage", nvml.power_mw);
    Find(library, "nvmlDeviceGetEnforcedPowerLimit", nvml.power_limit_mw);
    Find(library, "nvmlDeviceGetTemperature", nvml.temperature);
    Find(library, "nvmlDeviceGetClockInfo", nvml.clock_mhz);
    Find(library, "nvmlDeviceGetCurrentClocksEventReasons", nvml.event_reasons);
    Find(library, "nvmlDeviceGetCurrentClocksThrottleReasons", nvml.event_reasons);
    Find(library, "nvmlDeviceGetUtilizationRates", nvml.utilization);
    if (nvml.init == nullptr || nvml.by_uuid == nullptr || nvml.init() != 0) nvml.by_uuid = nullptr;
  }
  return nvml.by_uuid != nullptr ? &nvml : nullptr;
}

// Value of a call that gives an unsigned, times `scale`.
template <typename Call>
float Read(Call&& call, float scale = 1) {
  unsigned value = 0;
  return call(&value) ? static_cast<float>(value) * scale : NAN;
}

// nvmlClocksEventReasons: what held the clocks back.
constexpr unsigned long long kPowerCap = 0x4;
constexpr unsigned long long kPowerBrake = 0x80;
constexpr unsigned long long kThermal = 0x8 | 0x20 | 0x40;

struct NvmlMetric {
  const char* name;
  const char* unit;
};
// In the order of ReadAll().
constexpr NvmlMetric kMetrics[] = {{"power", "W"},
                                   {"power limit", "W"},
                                   {"temperature", "C"},
                                   {"SM clock", "MHz"},
                                   {"memory clock", "MHz"},
                                   {"held back by power", "%"},
                                   {"held back by heat", "%"},
                                   {"any kernel ran", "%"},
                                   {"memory was accessed", "%"}};
constexpr size_t kCount = sizeof kMetrics / sizeof *kMetrics;

void ReadAll(const Nvml& nvml, void* gpu, float (&values)[kCount]) {
  constexpr int kSmClock = 1, kMemoryClock = 2, kGpuSensor = 0;
  const auto has = [](auto function, auto... arguments) {
    return
        [=](unsigned* value) { return function != nullptr && function(arguments..., value) == 0; };
  };
  values[0] = Read(has(nvml.power_mw, gpu), 1e-3f);
  values[1] = Read(has(nvml.power_limit_mw, gpu), 1e-3f);
  values[2] = Read(has(nvml.temperature, gpu, kGpuSensor));
  values[3] = Read(has(nvml.clock_mhz, gpu, kSmClock));
  values[4] = Read(has(nvml.clock_mhz, gpu, kMemoryClock));
  unsigned long long reasons = 0;
  const bool known = nvml.event_reasons != nullptr && nvml.event_reasons(gpu, &reasons) == 0;
  values[5] = !known ? NAN : (reasons & (kPowerCap | kPowerBrake)) != 0 ? 100.f : 0.f;
  values[6] = !known ? NAN : (reasons & kThermal) != 0 ? 100.f : 0.f;
  Utilization busy{};
  const bool measured = nvml.utilization != nullptr && nvml.utilization(gpu, &busy) == 0;
  values[7] = measured ? static_cast<float>(busy.gpu) : NAN;
  values[8] = measured ? static_cast<float>(busy.memory) : NAN;
}

uint64_t MonotonicNow() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

}  // namespace

bool NvmlSampler::Start(uint32_t device, const char* uuid, FrameWriter& out) {
  const Nvml* const nvml = OpenNvml();
  char name[80];
  snprintf(name, sizeof name, "GPU-%s", uuid);
  if (nvml == nullptr || nvml->by_uuid(name, &handle_) != 0) return false;
  device_ = device;
  for (const NvmlMetric& metric : kMetrics) {
    const MetricFrame frame = {kIntervalNs, device, kSourceNvml};
    out.Begin(FrameKind::kMetric,
              sizeof frame + strlen(uuid) + strlen(metric.name) + strlen(metric.unit) + 3);
    out.Add(&frame, sizeof frame);
    out.AddText(uuid);
    out.AddText(metric.name);
    out.AddText(metric.unit);
  }
  next_ns_ = MonotonicNow();
  return true;
}

void NvmlSampler::Read(FrameWriter& out) {
  const uint64_t now = MonotonicNow();
  if (handle_ == nullptr || now < next_ns_) return;
  next_ns_ = now + kIntervalNs;
  float values[kCount];
  ReadAll(*OpenNvml(), handle_, values);
  const SampleFrame frame = {now, device_, kSourceNvml};
  out.Begin(FrameKind::kSample, sizeof frame + sizeof values);
  out.Add(&frame, sizeof frame);
  out.Add(values, sizeof values);
}

}  // namespace batchlight::host
