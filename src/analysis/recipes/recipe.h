// The recipes of nsys: a table of each rank, made where its recording is read, and tables over all
// ranks, made of these. One table, recipes.def, lists them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/result/result_table.h"
#include "base/status.h"
#include "store/store.h"

namespace batchlight::recipes {

struct RecipeName {
  std::string_view name;
  std::string_view title;  // for people; of one that is not here: why
  std::string_view usage;  // what may follow the name: "[:base|:mangled]"
  bool here = true;
};
std::span<const RecipeName> RecipeNames();

// "cuda_gpu_kern_sum:base", checked.
struct RecipeCall {
  std::string name;
  std::vector<std::string> args;
};
// Errors (kUsage): no such recipe, one that makes no sense here, or an argument that is not its
// own.
Result<RecipeCall> ParseRecipe(const std::string& text);
std::string TextOf(const RecipeCall& call);

// What is kept of one input, as bytes that another machine may have made. Errors (kUsage): an
// argument names a kernel or range that is not there.
Result<std::string> MapRecipe(const RecipeCall& call, const std::string& label, const Store& store);

struct RecipeResult {
  std::vector<ResultTable> tables;  // files; rank_stats and all_stats, or analysis
  std::vector<std::string> notes;
};
// `parts`: of the inputs, in their order. Errors (kInput): bytes that are no part; no input has
// what the recipe needs.
Result<RecipeResult> ReduceRecipe(const RecipeCall& call, const std::vector<std::string>& parts);

}  // namespace batchlight::recipes
