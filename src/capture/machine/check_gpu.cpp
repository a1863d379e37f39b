// The NVIDIA driver, its GPUs, and CUPTI, as host_query finds them.
#include <cstdlib>

#include "capture/machine/machine_check.h"
#include "capture/program/host_query.h"

namespace batchlight::capture {
namespace {

std::string VersionText(int version) {  // 13020 = 13.2
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

void CheckDevices(const PrintedLines& lines, std::vector<Check>& checks) {
  const std::string error = FirstValue(lines, "cuda_error");
  if (error.empty()) {
    checks.push_back({"GPU", Finding::kMissing, "libcuda.so.1 is not a CUDA driver", ""});
    return;
  }
  if (error != "0" || FirstValue(lines, "gpu").empty()) {
    checks.push_back({"GPU", Finding::kMissing,
                      "the CUDA driver finds no GPU (error " + error + ")",
                      "nvidia-smi shows what the driver sees; a container must be given the GPUs"});
    return;
  }
  for (const auto& [key, value] : lines) {
    if (key == "gpu") checks.push_back({"GPU", Finding::kGood, value, ""});
  }
  const int version = std::atoi(FirstValue(lines, "cuda_version").c_str());
  checks.push_back({"CUDA", version >= 12000 ? Finding::kGood : Finding::kMissing,
                    "the driver supports CUDA " + VersionText(version),
                    version >= 12000 ? "" : "GPU events need CUDA 12 or newer"});
}

Check CheckCupti(const PrintedLines& lines) {
  const std::string cupti = FirstValue(lines, "cupti");
  if (!cupti.empty()) return {"CUPTI", Finding::kGood, cupti, ""};
  return {"CUPTI", Finding::kNote,
          "no libcupti on the library path; the one inside PyTorch's CUDA wheels is used where "
          "there is one",
          "otherwise install the package nvidia-cuda-cupti, or CUDA's toolkit"};
}

}  // namespace

std::vector<Check> CheckGpu() {
  const auto answer = AskHost({"gpu"});
  if (!answer.ok()) return {{"GPU", Finding::kMissing, answer.status().message(), ""}};
  const PrintedLines& lines = answer.value().lines;
  if (FirstValue(lines, "driver") != "1") {
    return {{"GPU", Finding::kNote, "no NVIDIA driver: CPU-only programs are recorded",
             "for GPU events install NVIDIA's driver"}};
  }
  std::vector<Check> checks;
  CheckDevices(lines, checks);
  checks.push_back(CheckCupti(lines));
  return checks;
}

}  // namespace batchlight::capture
