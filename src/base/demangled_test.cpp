#include "base/demangled.h"

#include <gtest/gtest.h>

namespace batchlight {
namespace {

TEST(DemangledName, MangledNamesOnly) {
  EXPECT_EQ(DemangledName("_ZN2at4cuda6philox12unpack_cudnnENS_15PhiloxCudaStateEPlS3_"),
            "at::cuda::philox::unpack_cudnn(at::PhiloxCudaState, long*, long*)");
  EXPECT_EQ(DemangledName("_ZN39_GLOBAL__N__39669faf_7_prog_cu_37580b0a5ScaleIfEEvPT_iS1_"),
            "void (anonymous namespace)::Scale<float>(float*, int, float)");
  EXPECT_EQ(DemangledName("plain_kernel"), "plain_kernel");
  EXPECT_EQ(DemangledName("_Znonsense"), "_Znonsense");
  EXPECT_EQ(DemangledName(""), "");
}

}  // namespace
}  // namespace batchlight
