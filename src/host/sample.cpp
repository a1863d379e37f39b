// Samples GPUs until standard input ends, and writes frames (sample_stream.h): in a process of its
// own, so that nothing of it is in the program that trains.
#include <dlfcn.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <new>

#include "host/cupti_library.h"
#include "host/nvml_sampler.h"
#include "host/pm_sampler.h"
#include "host/questions.h"

namespace batchlight::host {
namespace {

constexpr int kMostGpus = 16;
constexpr int kMostWaitMs = 50;

struct Gpu {
  char uuid[40];
  PmSampler* counters;
  NvmlSampler nvml;
  bool has_nvml;
};

struct Sampling {
  counters::ProfilerApi api;
  FrameWriter out;
  Gpu gpus[kMostGpus];
  int count = 0;
  uint64_t interval_ns = 0;
};

// Whether "all" or "0,2" names the device.
bool IsNamed(const char* list, int device) {
  if (strcmp(list, "all") == 0) return true;
  for (const char* at = list; *at != 0;) {
    char* end = nullptr;
    if (strtol(at, &end, 10) == device && end != at) return true;
    at = end == at ? at + 1 : end;
    if (*at == ',') ++at;
  }
  return false;
}

void ReadUuid(void* driver, int device, char (&text)[40]) {
  struct Bytes {
    unsigned char bytes[16];
  } uuid{};
  auto* get = reinterpret_cast<int (*)(Bytes*, int)>(dlsym(driver, "cuDeviceGetUuid_v2"));
  if (get == nullptr)
    get = reinterpret_cast<int (*)(Bytes*, int)>(dlsym(driver, "cuDeviceGetUuid"));
  text[0] = 0;
  if (get == nullptr || get(&uuid, device) != 0) return;
  char* at = text;
  for (int i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) *at++ = '-';
    at += snprintf(at, 3, "%02x", uuid.bytes[i]);
  }
}

// nullptr, with a reason written: there is no driver or no GPU.
void* OpenDriver(FrameWriter& out, int& count) {
  // All GPUs, numbered as nvidia-smi does, whatever the program may see of them.
  unsetenv("CUDA_VISIBLE_DEVICES");
  setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID", 1);
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  const auto init =
      reinterpret_cast<int (*)(unsigned)>(driver != nullptr ? dlsym(driver, "cuInit") : nullptr);
  const auto get_count = reinterpret_cast<int (*)(int*)>(
      driver != nullptr ? dlsym(driver, "cuDeviceGetCount") : nullptr);
  if (init != nullptr && get_count != nullptr && init(0) == 0 && get_count(&count) == 0)
    return driver;
  out.Reason("GPU metrics are not sampled: this machine has no NVIDIA driver or no GPU");
  return nullptr;
}

bool StartAll(Sampling& sampling, bool has_cupti, const char* devices, char** names, int count) {
  int present = 0;
  void* const driver = OpenDriver(sampling.out, present);
  if (driver == nullptr) return false;
  if (has_cupti) {
    counters::InitializeParams initialize{};
    counters::Call(sampling.api.initialize, initialize);
  }
  for (int device = 0; device < present && sampling.count < kMostGpus; ++device) {
    if (!IsNamed(devices, device)) continue;
    Gpu& gpu = sampling.gpus[sampling.count++];
    ReadUuid(driver, device, gpu.uuid);
    const auto ordinal = static_cast<uint32_t>(device);
    gpu.has_nvml = gpu.nvml.Start(ordinal, gpu.uuid, sampling.out);
    if (!has_cupti || count == 0) continue;
    void* const memory = malloc(sizeof(PmSampler));
    if (memory == nullptr) continue;
    auto* const sampler = new (memory) PmSampler(sampling.api, ordinal, sampling.interval_ns);
    if (sampler->Start(gpu.uuid, names, count, sampling.out)) gpu.counters = sampler;
  }
  if (sampling.count == 0) {
    sampling.out.Reason(
        "GPU metrics are not sampled: none of the GPUs of --gpu-metrics-devices is here");
  }
  sampling.out.Flush();
  return sampling.count != 0;
}

void ReadAll(Sampling& sampling) {
  for (int i = 0; i < sampling.count; ++i) {
    if (sampling.gpus[i].counters != nullptr) sampling.gpus[i].counters->Read(sampling.out);
    if (sampling.gpus[i].has_nvml) sampling.gpus[i].nvml.Read(sampling.out);
  }
  sampling.out.Flush();
}

// An eighth of what an image holds.
int WaitMs(const Sampling& sampling) {
  uint64_t room_ns = uint64_t{kMostWaitMs} * 8'000'000;
  for (int i = 0; i < sampling.count; ++i) {
    if (sampling.gpus[i].counters == nullptr) continue;
    const uint64_t own = sampling.gpus[i].counters->room_ns();
    if (own < room_ns) room_ns = own;
  }
  const auto wait = static_cast<int>(room_ns / 8'000'000);
  return wait > 0 ? wait : 1;
}

}  // namespace

int SampleGpus(int count, char** words) {
  if (count < 3) return kBadQuestion;
  static Sampling sampling;
  sampling.interval_ns = strtoull(words[2], nullptr, 10);
  if (sampling.interval_ns == 0) return kBadQuestion;
  char why[512] = "";
  const bool has_cupti =
      count > 3 && OpenCupti(words[0], sampling.api, why) && sampling.api.has_samples();
  if (count > 3 && !has_cupti) {
    char text[640];
    snprintf(text, sizeof text, "counters of GPUs are not sampled: %s",
             why[0] != 0 ? why : "this libcupti is older than CUDA 12.6: update nvidia-cuda-cupti");
    sampling.out.Reason(text);
  }
  if (!StartAll(sampling, has_cupti, words[1], words + 3, count - 3)) {
    sampling.out.Flush();
    return kUnknown;
  }
  alarm(0);  // no question any more
  pollfd input = {STDIN_FILENO, POLLIN, 0};
  while (poll(&input, 1, WaitMs(sampling)) == 0 && !sampling.out.is_broken()) ReadAll(sampling);
  ReadAll(sampling);
  for (int i = 0; i < sampling.count; ++i) {
    if (sampling.gpus[i].counters != nullptr) sampling.gpus[i].counters->Stop();
  }
  return kAnswered;
}

}  // namespace batchlight::host
