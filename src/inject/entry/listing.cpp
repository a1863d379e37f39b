#include "inject/entry/listing.h"

#include <cstring>

#include "inject/rt/text.h"

namespace batchlight::inject {
namespace {

constexpr char kListing[] = "LD_TRACE_LOADED_OBJECTS=";
constexpr char kPreload[] = "LD_PRELOAD=";
constexpr char kOurs[] = "/libbatchlight_";

// More than programs have, and little enough for a thread's stack.
constexpr size_t kMostVariables = 4096;

bool StartsWith(const char* text, const char* start) {
  return std::strncmp(text, start, std::strlen(start)) == 0;
}

// The assignment with the libraries of others alone; as it was where that does not fit.
[[gnu::cold]] char* OthersOf(char* assignment, char (&preload)[kPreloadBytes]) {
  Text text(preload, sizeof preload);
  text.Add(kPreload);
  const char* at = assignment + sizeof kPreload - 1;
  while (*at != 0) {
    const size_t bytes = std::strcspn(at, ": ");
    const char* ours = std::strstr(at, kOurs);
    if (bytes > 0 && (ours == nullptr || ours >= at + bytes)) text.Add(at, bytes).Add(":");
    at += bytes;
    at += std::strspn(at, ": ");
  }
  return text.ok() ? preload : assignment;
}

}  // namespace

size_t VariablesOfListing(char* const environment[]) {
  bool lists = false;
  size_t count = 0;
  for (; environment != nullptr && environment[count] != nullptr; ++count) {
    const char* variable = environment[count];
    lists = lists || (StartsWith(variable, kListing) && variable[sizeof kListing - 1] != 0);
  }
  return lists && count <= kMostVariables ? count : 0;
}

void LeaveOurLibrariesOut(char* const environment[], char** copy, char (&preload)[kPreloadBytes]) {
  for (; *environment != nullptr; ++environment) {
    *copy++ = StartsWith(*environment, kPreload) ? OthersOf(*environment, preload) : *environment;
  }
  *copy = nullptr;
}

}  // namespace batchlight::inject
