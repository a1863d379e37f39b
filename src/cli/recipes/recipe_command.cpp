// batchlight recipe: the recipes of nsys over the ranks of a job, into a folder of tables.
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/recipes/recipe.h"
#include "base/file.h"
#include "cli/engines/engine.h"
#include "cli/flags/command.h"
#include "cli/flags/run_argument.h"
#include "cli/reading/progress_line.h"
#include "cli/reading/standard_output.h"
#include "cli/recipes/recipe_folder.h"
#include "cli/recipes/recipe_work.h"

namespace batchlight::cli {
namespace {

struct RecipeFlags {
  std::string name;
  std::vector<std::string> runs;
  std::string mode = "concurrent";
  std::string engine = "local";
  bool list = false;
  RecipeFolder folder;
};

Status List() {
  std::string text;
  for (const recipes::RecipeName& recipe : recipes::RecipeNames()) {
    text += std::string(recipe.name) + std::string(recipe.usage) +
            (recipe.here ? " -- " : " -- not here: ") + std::string(recipe.title) + '\n';
  }
  RETURN_IF_ERROR(WriteOut(text));
  return FinishOut();
}

Result<std::unique_ptr<Engine>> EngineOf(const RecipeFlags& flags) {
  if (flags.engine != "local") return OpenEngine(flags.engine);
  if (flags.mode == "none") return LocalEngine(LocalThreads::kOne);
  return OpenEngine(flags.mode == "dask-futures" ? "dask" : "local");
}

// What the engine made of each input, in their order. Inputs that cannot be read are notes.
Result<std::vector<std::string>> ReadParts(const RecipeFlags& flags,
                                           const recipes::RecipeCall& call,
                                           std::vector<std::string>& notes) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Engine> engine, EngineOf(flags));
  ASSIGN_OR_RETURN(const std::vector<EngineInput> inputs, engine->Find(flags.runs));
  std::vector<std::optional<Result<std::string>>> read(inputs.size());
  ProgressLine progress;
  progress.Announce("reading " + std::to_string(inputs.size()) + " recordings");
  RETURN_IF_ERROR(engine->Run(inputs, RecipeWork(call), [&](size_t i, Result<std::string> bytes) {
    read[i].emplace(std::move(bytes));
  }));
  progress.Clear();
  std::vector<std::string> parts;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (read[i]->ok()) {
      parts.push_back(std::move(*read[i]).value());
      continue;
    }
    const bool there = !inputs[i].places.empty() || FileExists(inputs[i].seen.path);
    if (inputs.size() == 1 || !there || read[i]->status().kind() == ErrorKind::kUsage) {
      return read[i]->status();
    }
    notes.push_back(read[i]->status().message() + ": left out");
  }
  if (parts.empty()) return InputError(notes[0]);
  return parts;
}

Status Run(const RecipeFlags& flags) {
  if (flags.list) return List();
  if (flags.name.empty()) {
    return UsageError("no recipe given: batchlight recipe NAME RUN...; --list has them all");
  }
  ASSIGN_OR_RETURN(const recipes::RecipeCall call, recipes::ParseRecipe(flags.name));
  RETURN_IF_ERROR(CheckRuns("recipe " + call.name, flags.runs));
  ASSIGN_OR_RETURN(const std::string path, PathOfRecipe(flags.folder, call.name));
  std::vector<std::string> notes;
  ASSIGN_OR_RETURN(const std::vector<std::string> parts, ReadParts(flags, call, notes));
  ASSIGN_OR_RETURN(const recipes::RecipeResult result, recipes::ReduceRecipe(call, parts));
  notes.insert(notes.end(), result.notes.begin(), result.notes.end());
  for (const std::string& note : notes) SayLine("batchlight: " + note);
  return WriteRecipeFolder(result, call.name, path, flags.folder.csv);
}

}  // namespace

void RegisterRecipe(const Command& app, Outcome& outcome) {
  auto flags = std::make_shared<RecipeFlags>();
  const Command command =
      app.Add("recipe", "Tables over the ranks of a job, as `nsys recipe` writes them");
  command.Details(
      "Writes a folder: `files` (which rank is in which input), and for recipes that sum "
      "`rank_stats` (of each rank) and `all_stats` (over all), for others `analysis`, as Parquet, "
      "and a picture. docs/recipes.md has all recipes.");
  command.Option("RECIPE", &flags->name, "NAME[:ARG[=VALUE]]...; --list has them all")
      .TypeName("RECIPE");
  command.Option("RUN,--input", &flags->runs, std::string(kRunHelp) + kRunsHelp).TypeName("");
  command.Switch("--list", &flags->list, "The recipes there are, and which are not here, and why");
  command.Option("-o,--output", &flags->folder.path, "The folder (default: NAME-1, NAME-2, ...)")
      .TypeName("FOLDER");
  command.Switch("--csv", &flags->folder.csv, "A CSV of each table beside the Parquet");
  command.Switch("--force-overwrite", &flags->folder.replace, "Replace tables that are there");
  AddEngineFlag(command, &flags->engine);
  command
      .Option("--mode", &flags->mode,
              "As nsys has it: on one thread, on all processors, or by Dask "
              "(DASK_SCHEDULER_ADDRESS, NSYS_DASK_SCHEDULER_FILE, else as concurrent)")
      .OneOf({"none", "concurrent", "dask-futures"})
      .ShowDefault()
      .Excludes("--engine");
  command.Runs([flags, &outcome] { outcome.status = Run(*flags); });
}

}  // namespace batchlight::cli
