// Kineto traces with changed bytes and text, the same ones every time. FUZZ_ROUNDS=N or
// FUZZ_SECONDS=S makes the first longer.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "base/file.h"
#include "fuzz_inputs.h"
#include "mutator.h"
#include "rounds.h"

namespace batchlight::fuzz {
namespace {

TEST(ShortFuzz, MutatedTracesKeepTheStoresPromises) {
  std::vector<std::string> seeds;
  for (const char* name : {"training", "autograd_array"}) {
    const std::string path = std::string(BATCHLIGHT_SOURCE_DIR) + "/tests/kineto/" + name + ".json";
    seeds.push_back(std::string(1, '\2') + ReadWholeFile(path).value());
  }
  Mutator mutator(20260101);
  size_t round = 0;
  for (Rounds rounds(1000); rounds.Next(); ++round) {
    const std::string bytes = mutator.Mutate(seeds[round % seeds.size()]);
    SCOPED_TRACE(round);
    FuzzInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  }
}

// Text that a JSON reader trips over, put into a trace at any place.
TEST(ShortFuzz, TracesWithAnyTextKeepTheStoresPromises) {
  const std::string folder = std::string(BATCHLIGHT_SOURCE_DIR) + "/tests/kineto/";
  const std::string trace = ReadWholeFile(folder + "training.json").value();
  const std::string deep(20000, '[');
  const std::string objects = [] {
    std::string text;
    for (int i = 0; i < 5000; ++i) text += "{\"args\":";
    return text;
  }();
  const std::string_view texts[] = {"\"",
                                    "\\",
                                    "{",
                                    "}",
                                    "[",
                                    "]",
                                    ",",
                                    ":",
                                    "\xff\xfe",
                                    "\xc3",
                                    "\\ud800",
                                    "\\u0000",
                                    "\n",
                                    "1e999",
                                    "-1e999",
                                    "99999999999999999999999999",
                                    "-9223372036854775809",
                                    "0.0000000001",
                                    "null",
                                    "true",
                                    "\"ph\": \"X\",",
                                    "\"ts\": -9e18,",
                                    "\"dur\": 1e300,",
                                    "\"tid\": 1e30,",
                                    "\"correlation\": -1,",
                                    "\"Sequence number\": 18446744073709551616,",
                                    deep,
                                    objects};
  std::mt19937 random(20260104);
  for (int round = 0; round < 1500; ++round) {
    std::string bytes = "2" + trace;
    for (int change = 0; change < 1 + round % 3; ++change) {
      const std::string_view text = texts[random() % std::size(texts)];
      const size_t place = 1 + random() % bytes.size();
      const size_t replaced = random() % 2 == 0 ? 0 : random() % 12;
      bytes.replace(std::min(place, bytes.size()), replaced, text);
    }
    SCOPED_TRACE(round);
    FuzzInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  }
}

}  // namespace
}  // namespace batchlight::fuzz
