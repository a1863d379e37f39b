// A short fuzz run that is the same every time: the recordings of tests/recordings and the
// traces of tests/kineto, mutated. Meant
// for the sanitizer presets. FUZZ_ROUNDS=N makes it longer.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "base/file.h"
#include "fuzz_inputs.h"
#include "ingest/trace_text.h"
#include "tests/support/sealed_bytes.h"

namespace batchlight::fuzz {
namespace {

// Each text recording as one process file and as a sealed file, with the byte that picks in front.
std::vector<std::string> Seeds() {
  std::vector<std::string> seeds;
  const std::string folder = std::string(BATCHLIGHT_SOURCE_DIR) + "/tests/recordings";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".txt") continue;
    const auto files = AssembleRecording(ReadWholeFile(entry.path()).value());
    EXPECT_TRUE(files.ok()) << entry.path();
    seeds.push_back(std::string(1, '\0') + testing_support::SealedBytes(files.value(), false));
    seeds.push_back(std::string(1, '\1'));
    for (const auto& [name, bytes] : files.value()) seeds.back() += bytes;
  }
  for (const char* name : {"training", "autograd_array"}) {
    const std::string path = std::string(BATCHLIGHT_SOURCE_DIR) + "/tests/kineto/" + name + ".json";
    seeds.push_back(std::string(1, '\2') + ReadWholeFile(path).value());
  }
  std::sort(seeds.begin(), seeds.end());
  return seeds;
}

class Mutator {
 public:
  explicit Mutator(uint32_t seed) : random_(seed) {}

  std::string Mutate(const std::string& seed) {
    std::string bytes = seed;
    const int changes = 1 + Below(8);
    for (int i = 0; i < changes && bytes.size() > 1; ++i) Change(bytes);
    return bytes;
  }

 private:
  int Below(size_t limit) { return static_cast<int>(random_() % limit); }
  size_t Place(const std::string& bytes) { return 1 + random_() % (bytes.size() - 1); }

  void Change(std::string& bytes) {
    const size_t place = Place(bytes);
    switch (Below(6)) {
      case 0:
        bytes[place] = static_cast<char>(bytes[place] ^ (1 << Below(8)));
        break;
      case 1:
        bytes[place] = static_cast<char>(random_());
        break;
      case 2: {  // a number that is likely to matter
        constexpr uint64_t kNumbers[] = {
            0, 1, 255, 4096, UINT32_MAX, UINT64_MAX, uint64_t{1} << 63};
        const uint64_t number = kNumbers[Below(std::size(kNumbers))];
        const size_t aligned = 1 + (place - 1) / 4 * 4;
        const size_t count = std::min<size_t>(Below(2) == 0 ? 4 : 8, bytes.size() - aligned);
        std::memcpy(bytes.data() + aligned, &number, count);
        break;
      }
      case 3:
        bytes.resize(place);
        break;
      case 4: {  // a stretch again, somewhere else
        const size_t from = Place(bytes);
        const size_t count = std::min<size_t>(Below(256), bytes.size() - std::max(from, place));
        std::memmove(bytes.data() + place, bytes.data() + from, count);
        break;
      }
      default: {  // whole pages change places
        const size_t page = 4096;
        if (bytes.size() < 1 + 2 * page) break;
        const size_t a = 1 + random_() % ((bytes.size() - 1) / page) * page;
        const size_t b = 1 + random_() % ((bytes.size() - 1) / page) * page;
        const size_t count = std::min(page, bytes.size() - std::max(a, b));
        if (a != b)
          std::swap_ranges(bytes.begin() + a, bytes.begin() + a + count, bytes.begin() + b);
      }
    }
  }

  std::mt19937 random_;
};

TEST(ShortFuzz, MutatedInputsKeepTheStoresPromises) {
  const std::vector<std::string> seeds = Seeds();
  ASSERT_GE(seeds.size(), 8u);
  const char* wanted = std::getenv("FUZZ_ROUNDS");
  const int rounds = wanted != nullptr ? std::atoi(wanted) : 4000;
  Mutator mutator(20260101);
  for (int round = 0; round < rounds; ++round) {
    const std::string bytes = mutator.Mutate(seeds[static_cast<size_t>(round) % seeds.size()]);
    SCOPED_TRACE(round);
    FuzzInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  }
}

}  // namespace
}  // namespace batchlight::fuzz
