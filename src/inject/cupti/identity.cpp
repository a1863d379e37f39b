#include "inject/cupti/identity.h"

#include <dlfcn.h>
#include <link.h>

#include <cstring>

#include "inject/buffer/facts.h"
#include "inject/rt/text.h"

namespace batchlight::inject::cupti {
namespace {

void Tell(const char* key, const char* value) {
  Guard guard;
  if (guard) Property(guard, key, value);
}

void TellVersion(const char* key, uint64_t major, uint64_t minor, uint64_t patch) {
  char value[64];
  Text text(value, sizeof value);
  text.Add(major).Add(".").Add(minor);
  if (patch != 0) text.Add(".").Add(patch);
  Tell(key, value);
}

struct Wanted {
  const char* prefix;
  char path[512];
};

int FindLoaded(dl_phdr_info* info, size_t, void* user) {
  auto* wanted = static_cast<Wanted*>(user);
  const char* slash = info->dlpi_name != nullptr ? std::strrchr(info->dlpi_name, '/') : nullptr;
  if (slash == nullptr || std::strncmp(slash + 1, wanted->prefix, std::strlen(wanted->prefix)) != 0)
    return 0;
  Text(wanted->path, sizeof wanted->path).Add(info->dlpi_name);
  return 1;
}

// A function of a library that the program has loaded; never loads one.
void* LoadedSymbol(const char* library_prefix, const char* name) {
  Wanted wanted{library_prefix, {}};
  dl_iterate_phdr(FindLoaded, &wanted);
  if (wanted.path[0] == 0) return nullptr;
  void* handle = dlopen(wanted.path, RTLD_NOW | RTLD_NOLOAD);
  return handle != nullptr ? dlsym(handle, name) : nullptr;
}

// "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.159.03  ...": the first word with a dot in
// it that begins with a digit.
void TellKernelDriver() {
  char text[512];
  const size_t bytes = sys::ReadFile("/proc/driver/nvidia/version", text, sizeof text - 1);
  text[bytes] = 0;
  for (char* word = text; *word != 0;) {
    const size_t length = std::strcspn(word, " \n");
    if (*word >= '0' && *word <= '9' && std::memchr(word, '.', length) != nullptr) {
      word[length] = 0;
      Tell("cuda.driver", word);
      return;
    }
    word += length;
    word += std::strspn(word, " \n");
  }
}

}  // namespace

void SayCuptiVersion(const Library& library) {
  Tell("cuda.cupti_library", library.path);
  if (library.version >= 130000) {
    TellVersion("cuda.cupti", library.version / 10000, library.version / 100 % 100,
                library.version % 100);
    return;
  }
  static constexpr struct {
    uint32_t version;
    uint32_t minor;
    uint32_t update;
  } k12[] = {{19, 0, 0}, {20, 2, 0}, {21, 3, 0}, {22, 4, 0}, {23, 5, 0},
             {24, 6, 0}, {26, 8, 0}, {27, 9, 0}, {28, 9, 1}};
  for (const auto& known : k12) {
    if (known.version == library.version) TellVersion("cuda.cupti", 12, known.minor, known.update);
  }
}

void Identity::TellDriver() {
  if (auto* version = reinterpret_cast<int (*)(int*)>(DriverSymbol("cuDriverGetVersion"))) {
    int number = 0;  // 1000 * major + 10 * minor
    if (version(&number) == 0 && number > 0) {
      const auto value = static_cast<uint64_t>(number);
      TellVersion("cuda.version", value / 1000, value % 1000 / 10, 0);
    }
  }
  TellKernelDriver();
}

void Identity::TellDevices() {
  constexpr struct {
    int attribute;  // CUdevice_attribute
    const char* name;
  } kAttributes[] = {
      {36, "memory_clock_khz"}, {37, "memory_bus_bits"}, {97, "max_shared_bytes_per_block_optin"}};
  auto* count_of = reinterpret_cast<int (*)(int*)>(DriverSymbol("cuDeviceGetCount"));
  auto* attribute_of =
      reinterpret_cast<int (*)(int*, int, int)>(DriverSymbol("cuDeviceGetAttribute"));
  int count = 0;
  if (count_of == nullptr || attribute_of == nullptr || count_of(&count) != 0) return;
  for (int device = 0; device < count; ++device) {
    for (const auto& attribute : kAttributes) {
      int value = 0;
      if (attribute_of(&value, attribute.attribute, device) != 0 || value <= 0) continue;
      char key[96], text[24];
      Text(key, sizeof key)
          .Add("cuda.device.")
          .Add(static_cast<uint64_t>(device))
          .Add(".")
          .Add(attribute.name);
      Text(text, sizeof text).Add(static_cast<uint64_t>(value));
      cupti::Tell(key, text);
    }
  }
}

void Identity::TellLibraries() {
  if (!told_cudnn_) {
    if (auto* get =
            reinterpret_cast<size_t (*)()>(LoadedSymbol("libcudnn.so", "cudnnGetVersion"))) {
      const uint64_t version = get();  // 90100 since 9.0, 8907 before
      const uint64_t thousand = version >= 90000 ? 10000 : 1000;
      TellVersion("cuda.cudnn", version / thousand, version % thousand / 100, version % 100);
      told_cudnn_ = true;
    }
  }
  if (!told_nccl_) {
    if (auto* get = reinterpret_cast<int (*)(int*)>(LoadedSymbol("libnccl.so", "ncclGetVersion"))) {
      int number = 0;  // 10000 * major + 100 * minor + patch since 2.9
      if (get(&number) == 0 && number >= 10000) {
        const auto value = static_cast<uint64_t>(number);
        TellVersion("cuda.nccl", value / 10000, value / 100 % 100, value % 100);
      }
      told_nccl_ = true;
    }
  }
}

void Identity::Tell() {
  if (!told_driver_) {
    told_driver_ = true;
    TellDriver();
    TellDevices();
  }
  TellLibraries();
}

}  // namespace batchlight::inject::cupti
