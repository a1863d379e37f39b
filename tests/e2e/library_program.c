/* Announces calls as CUDA's libraries do: NVTX ranges in domains of their own, by the level that a
 * variable says when the library is loaded. 3 steps of the program's own around them. */
#include <string.h>

#include "../inject/mini_nvtx.h"

static int LevelOf(const char* variable) {
  const char* text = getenv(variable);
  return text ? atoi(text) : 0;
}

static void Call(nvtxDomainHandle_t domain, const char* name) {
  nvtxEventAttributes_t event = {0};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_ASCII;
  event.message.ascii = name;
  nvtxDomainRangePushEx(domain, &event);
  nvtxDomainRangePop(domain);
}

int main(void) {
  const int cublas = LevelOf("CUBLAS_NVTX_LEVEL"), cudnn = LevelOf("CUDNN_NVTX_LEVEL");
  const int cusparse = LevelOf("CUSPARSE_NVTX_LEVEL");
  const nvtxDomainHandle_t blas = nvtxDomainCreateA("cuBLAS"), dnn = nvtxDomainCreateA("cuDNN");
  const nvtxDomainHandle_t sparse = nvtxDomainCreateA("CUSPARSE");
  for (int step = 0; step < 3; ++step) {
    nvtxRangePushA("step");
    if (cublas >= 1) Call(blas, "cublasLtMatmul");
    if (cublas >= 2) Call(blas, "cublasSetStream_v2");
    if (cublas >= 2) Call(blas, "cublasGemmEx");
    if (cudnn >= 2) Call(dnn, "cudnnBackendSetAttribute");
    if (cudnn >= 1) Call(dnn, "cudnnBackendExecute");
    if (cusparse >= 2) Call(sparse, "cusparseSpMM");
    nvtxRangePop();
  }
  return 0;
}
