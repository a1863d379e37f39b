// What a recipe reads of each recording, as a piece of work for an engine.
#pragma once

#include "analysis/recipes/recipe.h"
#include "cli/engines/engine.h"

namespace batchlight::cli {

inline constexpr char kRecipeWork[] = "recipe";

// Its words are kRecipeWork and the recipe as ParseRecipe reads it.
Work RecipeWork(const recipes::RecipeCall& call);

}  // namespace batchlight::cli
