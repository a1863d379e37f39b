// Hardware counters, as CUPTI's own library plans them: which chips it knows, which metrics these
// have, and how many passes a list of metrics takes. None of it needs a GPU.
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "counters/host_object.h"
#include "counters/pass_planner.h"
#include "host/cupti_library.h"
#include "host/questions.h"

namespace batchlight::host {
namespace {

using namespace batchlight::counters;  // NOLINT(google-build-using-namespace)

int PrintChips(const ProfilerApi& api) {
  SupportedChipsParams params{};
  const uint32_t result = Call(api.supported_chips, params);
  if (result != kSuccess) return SayCuptiFailure("cuptiProfilerHostGetSupportedChips", result);
  for (size_t i = 0; i < params.count; ++i) printf("chip=%s\n", params.names[i]);
  return kAnswered;
}

// The chip of the machine's first GPU, if it is asked for as "-". nullptr: there is none.
const char* ChipNamed(const ProfilerApi& api, const char* name) {
  if (strcmp(name, "-") != 0) return name;
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  const auto init =
      reinterpret_cast<int (*)(unsigned)>(driver != nullptr ? dlsym(driver, "cuInit") : nullptr);
  if (init == nullptr || init(0) != 0) return nullptr;
  InitializeParams initialize{};
  Call(api.initialize, initialize);
  ChipNameParams params{};
  return Call(api.chip_name, params) == kSuccess ? params.chip : nullptr;
}

int PrintPlan(const ProfilerApi& api, ProfilerType type, const char* chip, uint32_t most_passes,
              char** names, int count) {
  static PlannedMetric metrics[kMostPlanned];
  const size_t planned = static_cast<size_t>(count) < kMostPlanned ? count : kMostPlanned;
  for (size_t i = 0; i < planned; ++i) {
    metrics[i].in_every_pass = names[i][0] == '+';
    metrics[i].name = names[i] + (metrics[i].in_every_pass ? 1 : 0);
  }
  const uint32_t passes = PlanPasses(api, type, chip, nullptr, metrics, planned, most_passes);
  for (uint32_t pass = 1; pass <= passes; ++pass) {
    const char* separator = "pass=";
    for (size_t i = 0; i < planned; ++i) {
      const bool again = metrics[i].in_every_pass && metrics[i].pass == 1;
      if (metrics[i].pass != pass && !again) continue;
      printf("%s%s", separator, metrics[i].name);
      separator = ",";
    }
    printf("\n");
  }
  for (size_t i = 0; i < planned; ++i) {
    if (metrics[i].pass == 0) printf("missing=%s\n", metrics[i].name);
    if (metrics[i].pass == kNeedsSeveral) printf("several=%s\n", metrics[i].name);
  }
  return kAnswered;
}

int PrintMetrics(const ProfilerApi& api, ProfilerType type, const char* chip) {
  HostObject host(api);
  const uint32_t opened = host.Open(type, chip, nullptr);
  if (opened != kSuccess) return SayCuptiFailure("cuptiProfilerHostInitialize", opened);
  constexpr const char* kTypes[] = {"counter", "ratio", "throughput"};
  for (uint32_t kind = 0; kind < 3; ++kind) {
    BaseMetricsParams params{};
    params.host = host.handle();
    params.type = kind;
    if (Call(api.base_metrics, params) != kSuccess) continue;
    for (size_t i = 0; i < params.count; ++i) {
      MetricPropertiesParams about{};
      about.host = host.handle();
      about.name = params.names[i];
      const bool known = Call(api.metric_properties, about) == kSuccess;
      const char* const text = known && about.description != nullptr ? about.description : "";
      const char* const unit = known && about.dimension != nullptr ? about.dimension : "";
      printf("metric=%s\t%s\t%s\t%s\n", params.names[i], kTypes[kind], unit, text);
    }
  }
  return kAnswered;
}

}  // namespace

int PrintCounters(int count, char** words) {
  if (count < 2) return kBadQuestion;
  ProfilerApi api;
  char why[512];
  if (!OpenCupti(words[0], api, why)) {
    printf("why=%s\n", why);
    return kUnknown;
  }
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(api.host_initialize), &info) != 0) {
    printf("cupti=%s\n", info.dli_fname);
  }
  if (strcmp(words[1], "chips") == 0) return PrintChips(api);
  if (count < 4) return kBadQuestion;
  const char* const chip = ChipNamed(api, words[3]);
  if (chip == nullptr) {
    printf("no_gpu=1\n");
    return kUnknown;
  }
  printf("chip=%s\n", chip);
  const ProfilerType type = strcmp(words[2], "pm") == 0 ? kPmSampling : kRangeProfiler;
  if (strcmp(words[1], "metrics") == 0) return PrintMetrics(api, type, chip);
  if (strcmp(words[1], "plan") != 0) return kBadQuestion;
  const uint32_t most_passes = type == kPmSampling ? 1 : UINT32_MAX;
  return PrintPlan(api, type, chip, most_passes, words + 4, count - 4);
}

}  // namespace batchlight::host
