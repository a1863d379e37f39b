// Where the CUPTI lies that a program will use, for those who plan counters before it runs.
#pragma once

#include <string>
#include <vector>

namespace batchlight::capture {

// The folder of libcupti: of BATCHLIGHT_CUPTI (a file or a folder), else of the packages beside the
// program's interpreter (nvidia-cuda-cupti, as PyTorch brings it), of VIRTUAL_ENV or of python3;
// "-": none is there, and the loader and CUDA's toolkits are to be asked.
std::string FindCuptiFolder(const std::vector<std::string>& command);

}  // namespace batchlight::capture
