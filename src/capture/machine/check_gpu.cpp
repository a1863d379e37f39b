// The NVIDIA driver, its GPUs, and CUPTI.
#include <dlfcn.h>

#include <memory>

#include "base/file.h"
#include "capture/machine/machine_check.h"

namespace batchlight::capture {
namespace {

// A library that stays loaded until the end of the check.
class Library {
 public:
  explicit Library(const char* name) : handle_(dlopen(name, RTLD_NOW | RTLD_LOCAL)) {}
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library() {
    if (handle_ != nullptr) dlclose(handle_);
  }
  bool open() const { return handle_ != nullptr; }
  template <typename Function>
  Function Find(const char* name) const {
    return reinterpret_cast<Function>(dlsym(handle_, name));
  }

 private:
  void* handle_;
};

std::string VersionText(int version) {  // 13020 = 13.2
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

void CheckDevices(const Library& driver, std::vector<Check>& checks) {
  // From CUDA's driver interface: int cuInit(unsigned), cuDriverGetVersion(int*),
  // cuDeviceGetCount(int*), cuDeviceGetName(char*, int, int device).
  const auto init = driver.Find<int (*)(unsigned)>("cuInit");
  const auto get_version = driver.Find<int (*)(int*)>("cuDriverGetVersion");
  const auto get_count = driver.Find<int (*)(int*)>("cuDeviceGetCount");
  const auto get_name = driver.Find<int (*)(char*, int, int)>("cuDeviceGetName");
  if (init == nullptr || get_version == nullptr || get_count == nullptr || get_name == nullptr) {
    checks.push_back({"GPU", Finding::kMissing, "libcuda.so.1 is not a CUDA driver", ""});
    return;
  }
  const int error = init(0);
  int version = 0;
  int count = 0;
  if (error != 0 || get_version(&version) != 0 || get_count(&count) != 0 || count == 0) {
    checks.push_back({"GPU", Finding::kMissing,
                      "the CUDA driver finds no GPU (cuInit: " + std::to_string(error) + ")",
                      "nvidia-smi shows what the driver sees; a container must be given the GPUs"});
    return;
  }
  for (int device = 0; device < count; ++device) {
    char name[256] = "?";
    get_name(name, sizeof name, device);
    checks.push_back({"GPU", Finding::kGood, std::to_string(device) + ": " + name, ""});
  }
  checks.push_back({"CUDA", version >= 12000 ? Finding::kGood : Finding::kMissing,
                    "the driver supports CUDA " + VersionText(version),
                    version >= 12000 ? "" : "GPU events need CUDA 12 or newer"});
}

void CheckCupti(std::vector<Check>& checks) {
  for (const char* name :
       {"libcupti.so.13", "libcupti.so.12", "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so",
        "/usr/local/cuda/lib64/libcupti.so"}) {
    const Library cupti(name);
    if (!cupti.open()) continue;
    const auto get_version = cupti.Find<int (*)(unsigned*)>("cuptiGetVersion");
    unsigned version = 0;
    if (get_version != nullptr) get_version(&version);
    checks.push_back(
        {"CUPTI", Finding::kGood, std::string(name) + ", version " + std::to_string(version), ""});
    return;
  }
  checks.push_back({"CUPTI", Finding::kNote,
                    "no libcupti on the library path; the one inside PyTorch's CUDA wheels is used "
                    "where there is one",
                    "otherwise install the package nvidia-cuda-cupti, or CUDA's toolkit"});
}

}  // namespace

std::vector<Check> CheckGpu() {
  std::vector<Check> checks;
  const Library driver("libcuda.so.1");
  if (!driver.open()) {
    checks.push_back({"GPU", Finding::kNote, "no NVIDIA driver: CPU-only programs are recorded",
                      "for GPU events install NVIDIA's driver"});
    return checks;
  }
  CheckDevices(driver, checks);
  CheckCupti(checks);
  return checks;
}

}  // namespace batchlight::capture
