#include "inject/nvtx/library_calls.h"

#include <gtest/gtest.h>

#include <cstring>

#include "inject/rt/text.h"

namespace batchlight::inject::nvtx {
namespace {

bool IsHelper(const char* name) {
  const size_t bytes = std::strlen(name);
  const bool is_helper = IsHelperCall(name, bytes);
  const uint64_t hash = HashBytes(name, bytes);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(IsHelperCall(name, bytes, hash), is_helper) << name;
  return is_helper;
}

TEST(LibraryCalls, CallsThatDoSomethingAreNoHelpers) {
  for (const char* name : {"cublasGemmEx",
                           "cublasSgemm_v2",
                           "cublasSgemmStridedBatched",
                           "cublasLtMatmul",
                           "cublasLtMatmulAlgoGetHeuristic",
                           "cublasCreate_v2",
                           "cublasDestroy_v2",
                           "cublasLtCreate",
                           "cublasSetVector",
                           "cublasGetMatrixAsync",
                           "cudnnCreate",
                           "cudnnBackendExecute",
                           "cudnnBackendFinalize",
                           "cudnnRNNForward",
                           "cudnnBatchNormalizationForwardTrainingEx",
                           "cusparseSpMM",
                           "cusolverDnXgesvd",
                           "cusolverDnSpotrf",
                           "x",
                           ""}) {
    EXPECT_FALSE(IsHelper(name)) << name;
  }
}

TEST(LibraryCalls, WhatFillsHandlesAndDescriptorsIs) {
  for (const char* name :
       {"cublasSetStream_v2", "cublasGetMathMode", "cublasSetWorkspace_v2",
        "cublasLtMatmulDescCreate", "cublasLtMatrixLayoutCreate", "cublasLtMatmulDescSetAttribute",
        "cublasLtMatmulPreferenceSetAttribute", "cudnnSetStream", "cudnnCreateTensorDescriptor",
        "cudnnSetTensorNdDescriptor", "cudnnBackendSetAttribute", "cudnnBackendCreateDescriptor",
        "cusparseSpMM_bufferSize", "cusparseDnMatSetValues", "cusparseCreateCsr",
        "cusolverDnSpotrf_bufferSize", "cusolverDnSetStream"}) {
    EXPECT_TRUE(IsHelper(name)) << name;
  }
}

TEST(LibraryCalls, DomainsAreKnownInAnyCase) {
  using format::Library;
  const auto library = [](const char* name) {
    return format::LibraryOfDomain(name, std::strlen(name));
  };
  EXPECT_EQ(library("cuBLAS"), Library::kCublas);
  EXPECT_EQ(library("cuBLASLt"), Library::kCublas);
  EXPECT_EQ(library("cuDNN"), Library::kCudnn);
  EXPECT_EQ(library("CUSPARSE"), Library::kCusparse);
  EXPECT_EQ(library("cusolverDn"), Library::kCusolver);
  EXPECT_EQ(library("cuBLAS of mine"), Library::kNone);
  EXPECT_EQ(library("cu"), Library::kNone);
  EXPECT_EQ(library(""), Library::kNone);
}

}  // namespace
}  // namespace batchlight::inject::nvtx
