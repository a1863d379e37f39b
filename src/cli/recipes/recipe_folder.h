// The folder that a recipe writes.
#pragma once

#include <string>

#include "analysis/recipes/recipe.h"
#include "base/status.h"

namespace batchlight::cli {

struct RecipeFolder {
  std::string path;  // "": the recipe's name and the first number that is free
  bool csv = false;  // a CSV of each table beside the Parquet
  bool replace = false;
};

// Before anything is read: the path. Errors (kOutput): it is there.
Result<std::string> PathOfRecipe(const RecipeFolder& folder, const std::string& recipe);

// A file for each table, and a picture where the recipe has one. The folder appears as a whole.
// Errors: kOutput.
Status WriteRecipeFolder(const recipes::RecipeResult& result, const std::string& recipe,
                         const std::string& path, bool csv);

}  // namespace batchlight::cli
