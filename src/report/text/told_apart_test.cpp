#include "report/text/told_apart.h"

#include <gtest/gtest.h>

#include "report/text/utf8.h"

namespace batchlight {
namespace {

using Texts = std::vector<std::string>;

TEST(TellApart, EqualNamesGetWhatTheyDifferIn) {
  Texts shown = {"sum · reduce_kernel", "Kernel2", "sum · reduce_kernel", "max · reduce_kernel"};
  TellApart(shown, {"reduce_kernel<256, 2, ReduceOp<float>>", "Kernel2",
                    "reduce_kernel<128, 4, ReduceOp<float>>", "reduce_kernel<512>"});
  EXPECT_EQ(shown, (Texts{"sum · reduce_kernel (256)", "Kernel2", "sum · reduce_kernel (128)",
                          "max · reduce_kernel"}));
}

TEST(TellApart, EqualFilesGetTheirFolders) {
  Texts shown = {"train.py:9", "train.py:9"};
  TellApart(shown, {"/home/u/a/train.py", "/home/u/b/train.py"});
  EXPECT_EQ(shown, (Texts{"train.py:9 (a)", "train.py:9 (b)"}));
  shown = {"x", "x"};
  TellApart(shown, {"same", "same"});
  EXPECT_EQ(shown, (Texts{"x", "x"}));
}

TEST(CutApart, WhatIsCutToTheSameShowsItsDifference) {
  const Texts texts = {"Kernel2<cutlass_80_simt_sgemm_64x64_8x5_nn_align1>",
                       "Kernel2<cutlass_80_simt_sgemm_64x64_8x5_nt_align1>", "short"};
  const Texts cut = CutApart(texts, 20, CutEnd);
  EXPECT_EQ(cut, (Texts{"Kernel2<cu…_nn_alig…", "Kernel2<cu…_nt_alig…", "short"}));
  for (const std::string& text : cut) EXPECT_LE(CharacterCount(text), 20u);
  // At their ends, which a cut in the middle keeps.
  EXPECT_EQ(CutApart({"aaaaaaaaaaaaaaaa1", "aaaaaaaaaaaaaaaa2"}, 10, CutEnd),
            (Texts{"aaaaa…aaa1", "aaaaa…aaa2"}));
  EXPECT_EQ(CutApart({texts[0], texts[0]}, 20, CutEnd)[0], CutEnd(texts[0], 20)) << "one name";
}

}  // namespace
}  // namespace batchlight
