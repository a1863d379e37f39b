// The NVTX domains in which CUDA's libraries announce their calls, and the variables that make
// them: each library reads its own when it is loaded. 0 is silence, 1 the main calls but not all of
// them, 2 and above all calls. NVIDIA does not document them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>

namespace batchlight::format {

enum class Library : uint8_t { kNone, kCublas, kCudnn, kCusparse, kCusolver };

// The words of -t and of ControlPage::extra, as in `libraries=cublas,cudnn-verbose`.
struct LibraryWord {
  Library library;
  const char* word;
};
inline constexpr LibraryWord kLibraryWords[] = {{Library::kCublas, "cublas"},
                                                {Library::kCudnn, "cudnn"},
                                                {Library::kCusparse, "cusparse"},
                                                {Library::kCusolver, "cusolver"}};
inline constexpr char kVerboseSuffix[] = "-verbose";

struct LevelVariable {
  Library library;
  const char* assignment;
};
inline constexpr LevelVariable kLevelVariables[] = {
    {Library::kCublas, "CUBLAS_NVTX_LEVEL=2"},     {Library::kCublas, "CUBLASLT_NVTX_LEVEL=2"},
    {Library::kCublas, "CUBLASXT_NVTX_LEVEL=2"},   {Library::kCudnn, "CUDNN_NVTX_LEVEL=2"},
    {Library::kCusparse, "CUSPARSE_NVTX_LEVEL=2"}, {Library::kCusolver, "CUSOLVERDN_NVTX_LEVEL=2"}};

// Of a domain's name, in whatever case the version of the library writes it.
constexpr Library LibraryOfDomain(const char* name, size_t bytes) {
  constexpr struct {
    Library library;
    const char* domain;
  } kDomains[] = {{Library::kCublas, "cublas"},       {Library::kCublas, "cublaslt"},
                  {Library::kCublas, "cublasxt"},     {Library::kCudnn, "cudnn"},
                  {Library::kCusparse, "cusparse"},   {Library::kCusolver, "cusolver"},
                  {Library::kCusolver, "cusolverdn"}, {Library::kCusolver, "cusolversp"},
                  {Library::kCusolver, "cusolvermg"}};
  for (const auto& known : kDomains) {
    size_t i = 0;
    while (i < bytes && known.domain[i] != 0 &&
           (name[i] >= 'A' && name[i] <= 'Z' ? name[i] - 'A' + 'a' : name[i]) == known.domain[i]) {
      ++i;
    }
    if (i == bytes && known.domain[i] == 0) return known.library;
  }
  return Library::kNone;
}

}  // namespace batchlight::format
