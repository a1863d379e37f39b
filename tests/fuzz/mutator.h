// Changes a few bytes of a file, the same way every time for one seed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>

namespace batchlight::fuzz {

// The first byte stays: it may say how the rest is read.
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

}  // namespace batchlight::fuzz
