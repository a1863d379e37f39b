#include "analysis/cuda/cuda_call.h"

namespace batchlight {

bool IsWaitingCall(std::string_view api_name) {
  return api_name.find("Synchronize") != api_name.npos || api_name.starts_with("cudaMemcpy_") ||
         api_name == "cudaMemcpy" || api_name.starts_with("cuMemcpyDtoH_") ||
         api_name.starts_with("cuMemcpyHtoD_");
}

}  // namespace batchlight
