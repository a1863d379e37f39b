#include "inject/cupti/library.h"

#include <dlfcn.h>
#include <link.h>

#include <cstring>

#include "inject/rt/text.h"

namespace batchlight::inject::cupti {
namespace {

struct LoadedPaths {
  char cupti[512];
  char runtime[512];  // libcudart.so.*, tells where the program's CUDA lies
};

bool NameStarts(const char* path, const char* prefix) {
  const char* slash = std::strrchr(path, '/');
  return std::strncmp(slash != nullptr ? slash + 1 : path, prefix, std::strlen(prefix)) == 0;
}

void Keep(char (&to)[512], const char* path) {
  const size_t bytes = std::strlen(path) + 1;
  if (to[0] == 0 && bytes <= sizeof to) std::memcpy(to, path, bytes);
}

int VisitLoaded(dl_phdr_info* info, size_t, void* user) {
  auto* paths = static_cast<LoadedPaths*>(user);
  if (info->dlpi_name == nullptr || info->dlpi_name[0] == 0) return 0;
  if (NameStarts(info->dlpi_name, "libcupti.so")) Keep(paths->cupti, info->dlpi_name);
  if (NameStarts(info->dlpi_name, "libcudart.so")) Keep(paths->runtime, info->dlpi_name);
  return 0;
}

void* OpenAt(const char* path) { return dlopen(path, RTLD_NOW | RTLD_LOCAL); }

// Beside the program's CUDA runtime: the wheels of PyTorch keep CUDA 13 in nvidia/cu13/lib and
// CUDA 12 in nvidia/cuda_runtime/lib and nvidia/cuda_cupti/lib; a toolkit has both in lib64 or
// CUPTI in extras/CUPTI/lib64.
void* OpenBesideRuntime(const char* runtime) {
  static constexpr const char* kPlaces[] = {"/libcupti.so.13",
                                            "/libcupti.so.12",
                                            "/../../cuda_cupti/lib/libcupti.so.13",
                                            "/../../cuda_cupti/lib/libcupti.so.12",
                                            "/../extras/CUPTI/lib64/libcupti.so",
                                            "/../../../extras/CUPTI/lib64/libcupti.so"};
  const char* slash = std::strrchr(runtime, '/');
  if (slash == nullptr) return nullptr;
  for (const char* place : kPlaces) {
    char path[768];
    Text text(path, sizeof path);
    text.Add(runtime, static_cast<size_t>(slash - runtime)).Add(place);
    if (!text.ok()) continue;
    if (void* handle = OpenAt(path)) return handle;
  }
  return nullptr;
}

void* OpenAnywhere() {
  static constexpr const char* kNames[] = {"libcupti.so.13",
                                           "libcupti.so.12",
                                           "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so",
                                           "/usr/local/cuda/lib64/libcupti.so",
                                           "/usr/local/cuda/lib64/libcupti.so.13",
                                           "/usr/local/cuda/lib64/libcupti.so.12"};
  for (const char* name : kNames) {
    if (void* handle = OpenAt(name)) return handle;
  }
  return nullptr;
}

void* OpenCupti() {
  LoadedPaths paths{};
  dl_iterate_phdr(VisitLoaded, &paths);
  if (paths.cupti[0] != 0) return dlopen(paths.cupti, RTLD_NOW | RTLD_NOLOAD);
  if (paths.runtime[0] != 0) {
    if (void* handle = OpenBesideRuntime(paths.runtime)) return handle;
  }
  return OpenAnywhere();
}

const char* ResolveSymbols(Library& library) {
  const char* missing = nullptr;
#define CUPTI_SYMBOL(name, parameters, since, required)                                  \
  library.name = reinterpret_cast<uint32_t(*) parameters>(dlsym(library.handle, #name)); \
  if (required && library.name == nullptr) missing = #name " (CUDA " since ")";
#include "inject/cupti/symbols.def"
#undef CUPTI_SYMBOL
  return missing;
}

}  // namespace

const char* OpenLibrary(Library& library) {
  library.handle = OpenCupti();
  if (library.handle == nullptr) {
    return "libcupti.so.12 or .13 was not found; install the package nvidia-cuda-cupti, or add "
           "the folder of CUPTI to LD_LIBRARY_PATH";
  }
  if (ResolveSymbols(library) != nullptr) {
    return "libcupti lacks functions that CUDA 12 has: update CUDA";
  }
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(library.cuptiGetVersion), &info) != 0 &&
      info.dli_fname != nullptr) {
    Text(library.path, sizeof library.path).Add(info.dli_fname);
  }
  if (library.cuptiGetVersion(&library.version) != kSuccess) {
    return "libcupti does not answer";
  }
  if (library.version < kVersion12_0) return "CUPTI is older than CUDA 12.0: update CUDA";
  if (library.version >= kVersion14_0) {
    return "CUPTI is newer than CUDA 13, whose records this version of batchlight knows: update "
           "batchlight";
  }
  return nullptr;
}

void* DriverSymbol(const char* name) {
  static void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  return driver != nullptr ? dlsym(driver, name) : nullptr;
}

}  // namespace batchlight::inject::cupti
