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

TEST(CudaCall, IsShownWithoutVersionAndStreamSuffix) {
  EXPECT_EQ(PlainApiName("cudaLaunchKernel_ptsz_v7000"), "cudaLaunchKernel");
  EXPECT_EQ(PlainApiName("cuLaunchKernel"), "cuLaunchKernel");
  EXPECT_EQ(PlainApiName("cuMemcpyDtoH_v2"), "cuMemcpyDtoH");
  EXPECT_EQ(PlainApiName("some_very"), "some_very");
}

}  // namespace
}  // namespace batchlight
