// What it costs to find the inlined functions at places all over a file's code. Processor time, so
// that a busy machine changes nothing.
//
//   inlined_bench FILE [PLACES]
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

#include "native/debug_file.h"
#include "native/inlined_functions.h"

namespace {

using namespace batchlight::native;

std::vector<uint64_t> PlacesIn(const ElfFile& file, const ElfFile* debug_file, size_t count) {
  uint64_t symbols_left = kMostSymbols;
  std::vector<Function> functions = file.Functions(symbols_left);
  if (debug_file != nullptr) functions = debug_file->Functions(symbols_left);
  uint64_t bytes = 0;
  for (const Function& function : functions) bytes += function.end - function.begin;
  const uint64_t step = bytes / count + 1;
  std::vector<uint64_t> places;
  uint64_t next = 0;
  for (const Function& function : functions) {
    const uint64_t size = function.end - function.begin;
    for (; next < size; next += step) places.push_back(function.begin + next);
    next -= size;
  }
  return places;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 1;
  const auto file = ElfFile::Open(argv[1]);
  if (!file) return 1;
  const auto debug_file = FindDebugFile(*file, argv[1]);
  const auto places =
      PlacesIn(*file, debug_file.get(), argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 10'000);
  DwarfBudget budget;
  const int64_t work = budget.work_left;
  const std::clock_t begin = std::clock();
  const auto found = FindInlinedFunctions(*file, debug_file.get(), places, budget);
  const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  size_t with = 0, calls = 0;
  for (const auto& of : found.calls) {
    with += of.empty() ? 0 : 1;
    calls += of.size();
  }
  std::printf(
      "%zu places: %zu in inlined functions, %zu calls, %zu names, %zu left out; %.3f s, "
      "%.0f MB of work\n",
      places.size(), with, calls, found.names.size(), found.left_out, seconds,
      static_cast<double>(work - budget.work_left) / 1e6);
  return 0;
}
