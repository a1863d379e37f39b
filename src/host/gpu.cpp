// The NVIDIA driver, its GPUs, and CUPTI.
#include <dlfcn.h>
#include <stdio.h>

#include "host/questions.h"

namespace batchlight::host {
namespace {

template <typename Function>
Function Find(void* library, const char* name) {
  return reinterpret_cast<Function>(dlsym(library, name));
}

void PrintDevices(void* driver) {
  // From CUDA's driver interface: int cuInit(unsigned), cuDriverGetVersion(int*),
  // cuDeviceGetCount(int*), cuDeviceGetName(char*, int, int device).
  const auto init = Find<int (*)(unsigned)>(driver, "cuInit");
  const auto get_version = Find<int (*)(int*)>(driver, "cuDriverGetVersion");
  const auto get_count = Find<int (*)(int*)>(driver, "cuDeviceGetCount");
  const auto get_name = Find<int (*)(char*, int, int)>(driver, "cuDeviceGetName");
  if (init == nullptr || get_version == nullptr || get_count == nullptr || get_name == nullptr) {
    return;
  }
  int version = 0;
  int count = 0;
  int error = init(0);
  if (error == 0) error = get_version(&version);
  if (error == 0) error = get_count(&count);  // the three share CUresult
  printf("cuda_error=%d\n", error);
  if (error != 0) return;
  printf("cuda_version=%d\n", version);
  for (int device = 0; device < count; ++device) {
    char name[256] = "?";
    get_name(name, sizeof name, device);
    printf("gpu=%d: %s\n", device, name);
  }
}

void PrintCupti() {
  constexpr const char* kPlaces[] = {"libcupti.so.13", "libcupti.so.12",
                                     "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so",
                                     "/usr/local/cuda/lib64/libcupti.so"};
  for (const char* name : kPlaces) {
    void* const cupti = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (cupti == nullptr) continue;
    const auto get_version = Find<int (*)(unsigned*)>(cupti, "cuptiGetVersion");
    unsigned version = 0;
    if (get_version != nullptr) get_version(&version);
    printf("cupti=%s, version %u\n", name, version);
    return;
  }
}

}  // namespace

int PrintGpus() {
  // Libraries stay loaded: the process is about to end.
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  printf("driver=%d\n", driver != nullptr);
  if (driver == nullptr) return kAnswered;
  PrintDevices(driver);
  PrintCupti();
  return kAnswered;
}

}  // namespace batchlight::host
