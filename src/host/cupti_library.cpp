#include "host/cupti_library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "host/questions.h"

namespace batchlight::host {
namespace {

void* OpenIn(const char* folder) {
  constexpr const char* kNames[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so"};
  for (const char* name : kNames) {
    char path[4096];
    const int length = snprintf(path, sizeof path, "%s/%s", folder, name);
    if (length <= 0 || static_cast<size_t>(length) >= sizeof path) continue;
    if (void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL)) return library;
  }
  return nullptr;
}

void* OpenAnywhere() {
  constexpr const char* kNames[] = {"libcupti.so.13", "libcupti.so.12"};
  for (const char* name : kNames) {
    if (void* const library = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
  }
  constexpr const char* kFolders[] = {"/usr/local/cuda/extras/CUPTI/lib64", "/usr/local/cuda/lib64",
                                      "/usr/local/cuda/lib"};
  for (const char* folder : kFolders) {
    if (void* const library = OpenIn(folder)) return library;
  }
  return nullptr;
}

}  // namespace

bool OpenCupti(const char* folder, counters::ProfilerApi& api, char (&why)[512]) {
  void* const library = strcmp(folder, "-") == 0 ? OpenAnywhere() : OpenIn(folder);
  if (library == nullptr) {
    snprintf(
        why, sizeof why,
        "libcupti.so.12 or .13 was not found; install the package nvidia-cuda-cupti, or name its "
        "folder in BATCHLIGHT_CUPTI");
    return false;
  }
  if (api.Resolve(library)) return true;
  snprintf(why, sizeof why,
           "libcupti is older than CUDA 12.6 and has no Range Profiler: update the package "
           "nvidia-cuda-cupti");
  return false;
}

int SayCuptiFailure(const char* call, uint32_t result) {
  const char* const text = counters::ExplainResult(result);
  if (text != nullptr) {
    printf("why=%s\n", text);
  } else {
    printf("why=%s of CUPTI fails with result %u\n", call, result);
  }
  return kUnknown;
}

}  // namespace batchlight::host
