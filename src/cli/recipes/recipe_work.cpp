#include "cli/recipes/recipe_work.h"

#include "cli/reading/job_input.h"
#include "ingest/open_input.h"

namespace batchlight::cli {

Work RecipeWork(const recipes::RecipeCall& call) {
  const auto run = [call](const std::string& path) -> Result<std::string> {
    ASSIGN_OR_RETURN(const Store store, OpenInput(path));
    return recipes::MapRecipe(call, NameOfInput(path), store);
  };
  return {.words = {kRecipeWork, recipes::TextOf(call)}, .run = run};
}

}  // namespace batchlight::cli
