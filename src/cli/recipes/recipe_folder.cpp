#include "cli/recipes/recipe_folder.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "base/file.h"
#include "cli/reading/standard_output.h"
#include "export/folder_output.h"
#include "report/charts/picture.h"
#include "report/charts/plot.h"
#include "report/tables/table_format.h"

namespace batchlight::cli {
namespace {

constexpr size_t kDrawnNames = 6;  // of a summary: as many as the legend has room for

Status WriteFile(const FolderOutput& folder, const std::string& name, const auto& write) {
  ASSIGN_OR_RETURN(AtomicFileWriter file,
                   AtomicFileWriter::Create(folder.FinalPath(name), {.folder = &folder.held()}));
  RETURN_IF_ERROR(write(file));
  return file.Commit();
}

Status WriteTableFile(const FolderOutput& folder, const ResultTable& table, const char* format) {
  ASSIGN_OR_RETURN(const TableFormat how, ParseTableFormat(format, kReportUnits));
  return WriteFile(folder, table.name + '.' + format, [&](AtomicFileWriter& file) {
    return WriteTable(how, RowsOf(table),
                      [&](std::string_view bytes) { return file.Write(bytes); });
  });
}

// Of statistics of each rank those of the names with most time.
ResultTable Drawn(const recipes::RecipeResult& result) {
  const ResultTable& last = result.tables.back();
  if (last.name != "all_stats") return last;
  std::set<Cell> names;
  for (const auto& row : last.rows) {
    if (names.size() < kDrawnNames) names.insert(row[0]);
  }
  ResultTable drawn = result.tables[result.tables.size() - 2];
  std::erase_if(drawn.rows, [&](const auto& row) { return !names.contains(row[1]); });
  return drawn;
}

Status WritePicture(const FolderOutput& folder, const recipes::RecipeResult& result,
                    const std::string& recipe) {
  ResultTable drawn = Drawn(result);
  if (drawn.name == "analysis") drawn.name = recipe;
  if (PictureOf(drawn.name) == nullptr) return {};
  ASSIGN_OR_RETURN(const std::string bytes, RenderPlot(RowsOf(drawn), PictureFormat::kSvg));
  return WriteFile(folder, recipe + ".svg",
                   [&](AtomicFileWriter& file) { return file.Write(bytes); });
}

}  // namespace

Result<std::string> PathOfRecipe(const RecipeFolder& folder, const std::string& recipe) {
  if (!folder.path.empty()) {
    if (!folder.replace && FileExists(folder.path)) {
      return OutputError(folder.path + " exists; use --force-overwrite to replace what is in it");
    }
    return folder.path;
  }
  for (int number = 1;; ++number) {
    const std::string path = recipe + '-' + std::to_string(number);
    if (!FileExists(path)) return path;
  }
}

Status WriteRecipeFolder(const recipes::RecipeResult& result, const std::string& recipe,
                         const std::string& path, bool csv) {
  ASSIGN_OR_RETURN(FolderOutput folder, FolderOutput::Create(path));
  for (const ResultTable& table : result.tables) {
    RETURN_IF_ERROR(WriteTableFile(folder, table, "parquet"));
    if (csv) RETURN_IF_ERROR(WriteTableFile(folder, table, "csv"));
  }
  RETURN_IF_ERROR(WritePicture(folder, result, recipe));
  RETURN_IF_ERROR(folder.Commit([](std::string_view) { return false; }));
  return WriteNamesOut(path + '\n');
}

}  // namespace batchlight::cli
