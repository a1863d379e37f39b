#include "base/demangled.h"

#include <cxxabi.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>

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

// Each argument is a pair of the one before.
std::string Doubling(int times) {
  constexpr std::string_view kDigits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  const auto reference = [&](int number) {
    std::string digits;
    for (int left = number - 1; left > 0; left /= 36) {
      digits.insert(digits.begin(), kDigits[static_cast<size_t>(left % 36)]);
    }
    return "S" + (number == 1 ? "0" : digits) + "_";
  };
  std::string name = "_Z1fSt4pairIiiE";
  for (int i = 0; i < times; ++i) {
    name += "St4pairI" + reference(2 * i + 1) + reference(2 * i + 1) + "E";
  }
  return name;
}

TEST(DemangledName, OfWhatStandsForGigabytesStaysMangled) {
  EXPECT_EQ(DemangledName(Doubling(1)),
            "f(std::pair<int, int>, std::pair<std::pair<int, int>, std::pair<int, int> >)");
  for (const int times : {20, 40, 60}) EXPECT_EQ(DemangledName(Doubling(times)), Doubling(times));
}

TEST(DemangledName, OfTemplatesOverTemplatesIsWhole) {
  const std::string name = Doubling(6);
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> whole(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
  ASSERT_EQ(status, 0);
  EXPECT_GT(std::string_view(whole.get()).size(), 30 * name.size());
  EXPECT_EQ(DemangledName(name), whole.get());
}

}  // namespace
}  // namespace batchlight
