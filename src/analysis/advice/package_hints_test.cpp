#include "analysis/advice/package_hints.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace batchlight::advice {
namespace {

// Samples of functions of these files, each with its ns.
PackageHint HintOf(const std::vector<std::pair<const char*, int64_t>>& files) {
  Store store;
  SampledTime time;
  for (const auto& [file, ns] : files) {
    time.all_ns += ns;
    time.innermost.push_back(
        {.file = store.strings.Intern(file), .function = "f", .line = 1, .ns = ns});
  }
  return HintFor(store, time);
}

TEST(PackageHints, AreOfTheKindThatHoldsAThird) {
  const PackageHint hint = HintOf({{"/home/u/train.py", 55},
                                   {"/usr/lib/python3.11/subprocess.py", 40},
                                   {"/usr/lib/python3.11/json/encoder.py", 5}});
  EXPECT_NE(hint.text.find("another program"), std::string::npos) << hint.text;
  EXPECT_TRUE(hint.before_workers);
  EXPECT_EQ(HintOf({{"/home/u/train.py", 80}, {"/usr/lib/python3.11/subprocess.py", 20}}).text, "");
  EXPECT_EQ(HintOf({}).text, "");
}

TEST(PackageHints, PackagesOfAKindCountTogether) {
  const PackageHint hint =
      HintOf({{"/home/u/train.py", 60},
              {"/venv/lib/python3.11/site-packages/PIL/Image.py", 20},
              {"/venv/lib/python3.11/site-packages/torchvision/transforms/functional.py", 20}});
  EXPECT_NE(hint.text.find("as tensors"), std::string::npos) << hint.text;
  EXPECT_FALSE(hint.before_workers) << "workers take that off the loop at once";
}

TEST(PackageHints, AFileOfTheProgramOfThatNameIsNone) {
  EXPECT_EQ(HintOf({{"/home/u/pandas.py", 100}}).text, "");
  EXPECT_EQ(HintOf({{"/home/u/json/reader.py", 100}}).text, "");
}

}  // namespace
}  // namespace batchlight::advice
