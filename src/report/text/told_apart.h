// Rows of one list that would read alike, told apart by what their full names differ in.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace batchlight {

// Of `shown`, equal texts get behind them the first part in which their `full` names differ:
// "sum_functor · reduce_kernel (256)", "... (128)". Those of equal names stay as they are.
void TellApart(std::vector<std::string>& shown, const std::vector<std::string>& full);

// Texts that are equal when they are cut to `width` characters (`cut`), and were not before, are
// cut before the part in which they differ: "Kernel2<cutlass_80…_nt_align1". Clean texts.
std::vector<std::string> CutApart(const std::vector<std::string>& texts, size_t width,
                                  std::string (*cut)(std::string_view, size_t));

}  // namespace batchlight
