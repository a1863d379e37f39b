#include "analysis/cuda/cuda_call.h"

namespace batchlight {

bool IsWaitingCall(std::string_view api_name) {
  return api_name.find("Synchronize") != api_name.npos || api_name.starts_with("cudaMemcpy_") ||
         api_name == "cudaMemcpy" || api_name.starts_with("cuMemcpyDtoH_") ||
         api_name.starts_with("cuMemcpyHtoD_");
}

bool IsLaunch(std::string_view api_name) {
  return api_name.find("Launch") != api_name.npos && api_name.find("HostFunc") == api_name.npos;
}

bool GivesWork(std::string_view api_name) {
  return IsLaunch(api_name) || api_name.find("Memcpy") != api_name.npos ||
         api_name.find("Memset") != api_name.npos;
}

}  // namespace batchlight
