#include "analysis/cuda/cuda_call.h"

#include <gtest/gtest.h>

namespace batchlight {
namespace {

TEST(CudaCall, KnowsWhatWaits) {
  EXPECT_TRUE(IsWaitingCall("cudaStreamSynchronize_v3020"));
  EXPECT_TRUE(IsWaitingCall("cudaMemcpy_v3020"));
  EXPECT_FALSE(IsWaitingCall("cudaMemcpyAsync_v3020"));
  EXPECT_FALSE(IsWaitingCall("cudaLaunchKernel_v7000"));
}

TEST(CudaCall, KnowsWhatLaunchesKernels) {
  for (const char* launch : {"cudaLaunchKernel_v7000", "cudaLaunchKernelExC_v11060",
                             "cuLaunchKernelEx", "cudaGraphLaunch_v10000", "cuGraphLaunch_ptsz"}) {
    EXPECT_TRUE(IsLaunch(launch)) << launch;
    EXPECT_TRUE(GivesWork(launch)) << launch;
  }
  EXPECT_FALSE(IsLaunch("cudaLaunchHostFunc_v10000")) << "a function for the CPU";
  EXPECT_FALSE(IsLaunch("cudaMemcpyAsync_v3020"));
}

TEST(CudaCall, KnowsWhatGivesTheGpuWork) {
  for (const char* copy : {"cudaMemcpyAsync_v3020", "cuMemcpyHtoDAsync_v2", "cudaMemsetAsync_v3020",
                           "cuMemsetD32Async"}) {
    EXPECT_TRUE(GivesWork(copy)) << copy;
  }
  for (const char* other : {"cudaMallocAsync_v11020", "cudaFreeAsync_v11020", "cudaMalloc_v3020",
                            "cudaEventRecord_v3020", "cudaStreamSynchronize_v3020"}) {
    EXPECT_FALSE(GivesWork(other)) << other;
  }
}

TEST(CudaCall, IsShownWithoutVersionAndStreamSuffix) {
  EXPECT_EQ(PlainApiName("cudaLaunchKernel_ptsz_v7000"), "cudaLaunchKernel");
  EXPECT_EQ(PlainApiName("cuLaunchKernel"), "cuLaunchKernel");
  EXPECT_EQ(PlainApiName("cuMemcpyDtoH_v2"), "cuMemcpyDtoH");
  EXPECT_EQ(PlainApiName("some_very"), "some_very");
}

}  // namespace
}  // namespace batchlight
