// A stand-in for libnvidia-ml.so.1: two GPUs that are as warm, as fast and as busy as a test wants
// to read. FAKE_NVML: "power" or "heat" holds their clocks back; "lacks" has neither reasons nor
// utilization, as GPUs that do not tell them. The second GPU does not say its power.
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace {

constexpr int kNotFound = 6;
constexpr int kNotSupported = 3;

int g_gpus[2];

bool Is(const char* what) {
  const char* const wanted = std::getenv("FAKE_NVML");
  return wanted != nullptr && std::strcmp(wanted, what) == 0;
}

int Number(unsigned* value, unsigned number) {
  *value = number;
  return 0;
}

}  // namespace

extern "C" {

int nvmlInit_v2() { return 0; }

// Those of the stand-in for the driver: the last byte is the number.
int nvmlDeviceGetHandleByUUID(const char* uuid, void** gpu) {
  constexpr const char* kFirst = "GPU-00010203-0405-0607-0809-0a0b0c0d0e0";
  const size_t bytes = std::strlen(kFirst);
  if (std::strncmp(uuid, kFirst, bytes) != 0 || (uuid[bytes] != '0' && uuid[bytes] != '1')) {
    return kNotFound;
  }
  *gpu = &g_gpus[uuid[bytes] - '0'];
  return 0;
}

int nvmlDeviceGetPowerUsage(void* gpu, unsigned* milliwatts) {
  return gpu == &g_gpus[1] ? kNotSupported : Number(milliwatts, 612'500);
}
int nvmlDeviceGetEnforcedPowerLimit(void*, unsigned* milliwatts) {
  return Number(milliwatts, 700'000);
}
int nvmlDeviceGetTemperature(void*, int sensor, unsigned* celsius) {
  return sensor != 0 ? kNotSupported : Number(celsius, 61);
}
int nvmlDeviceGetClockInfo(void*, int type, unsigned* mhz) {
  constexpr int kSm = 1;
  return Number(mhz, type == kSm ? 1980 : 3201);
}
int nvmlDeviceGetCurrentClocksEventReasons(void*, unsigned long long* reasons) {
  constexpr unsigned long long kSoftwarePowerCap = 0x4, kSoftwareThermal = 0x20, kIdle = 0x1;
  if (Is("lacks")) return kNotSupported;
  *reasons = Is("power") ? kSoftwarePowerCap : Is("heat") ? kSoftwareThermal : kIdle;
  return 0;
}
int nvmlDeviceGetUtilizationRates(void*, unsigned* gpu_and_memory) {
  if (Is("lacks")) return kNotSupported;
  gpu_and_memory[0] = 87;
  gpu_and_memory[1] = 34;
  return 0;
}
}
