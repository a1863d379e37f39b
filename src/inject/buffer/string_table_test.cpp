#include "inject/buffer/string_table.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <string>
#include <vector>

#include "inject/buffer/chunk_file.h"

namespace batchlight::inject {
namespace {

// Lays out String records' fields one after the other, as a chunk has them.
class Strings {
 public:
  uint32_t Add(const std::string& text) {
    const auto offset = static_cast<uint32_t>(bytes_.size());
    const uint32_t fields[2] = {++count_, static_cast<uint32_t>(text.size())};
    bytes_.append(reinterpret_cast<const char*>(fields), sizeof fields);
    bytes_ += text;
    bytes_.resize((bytes_.size() + 7) / 8 * 8);
    return offset;
  }
  const char* base() const { return bytes_.data(); }

 private:
  std::string bytes_ = std::string(8, 0);  // offset 0 is never used
  uint32_t count_ = 0;
};

TEST(StringTable, FindsWhatWasInsertedAcrossGrowth) {
  std::vector<uint64_t> memory(16);
  StringTable table;
  table.Use(memory.data(), 16);
  Strings strings;
  std::vector<std::string> texts;
  for (int i = 0; i < 5000; ++i)
    texts.push_back("name " + std::to_string(i) + std::string(i % 40, 'x'));
  for (const std::string& text : texts) {
    const uint64_t hash = HashBytes(text.data(), text.size());
    EXPECT_EQ(table.Find(strings.base(), text.data(), text.size(), hash), nullptr);
    const uint32_t offset = strings.Add(text);
    table.Insert(strings.base(), hash, offset);
  }
  for (size_t i = 0; i < texts.size(); ++i) {
    const std::string& text = texts[i];
    const StoredString* found =
        table.Find(strings.base(), text.data(), text.size(), HashBytes(text.data(), text.size()));
    ASSERT_NE(found, nullptr) << text;
    EXPECT_EQ(found->id, i + 1);
  }
  table.Clear();
  EXPECT_EQ(table.Find(strings.base(), texts[0].data(), texts[0].size(),
                       HashBytes(texts[0].data(), texts[0].size())),
            nullptr);
  table.ReleaseGrown();
}

TEST(RecentStrings, TellsTextsApartAtOnePointer) {
  Strings strings;
  std::vector<uint32_t> offsets;
  for (size_t n = 0; n < 40; ++n) offsets.push_back(strings.Add(std::string(n, 'a')));
  std::vector<char> buffer(64, 0);
  RecentStrings recent;
  recent.Clear();
  for (size_t known = 0; known < 40; ++known) {
    const auto* stored = reinterpret_cast<const StoredString*>(strings.base() + offsets[known]);
    recent.Remember(strings.base(), buffer.data(), stored);
    for (size_t now = 0; now < 40; ++now) {
      const std::string text(now, 'a');
      std::memcpy(buffer.data(), text.c_str(), now + 1);
      const auto* expected = now == known ? stored : nullptr;
      EXPECT_EQ(recent.Find(strings.base(), buffer.data(), now), expected);
      const StoredString* found = recent.FindTerminated(strings.base(), buffer.data());
      if (found != nullptr) {  // it may decline near the end of a page
        EXPECT_EQ(found, expected);
      }
    }
  }
}

// The page after the text is not there: nothing may look into it.
TEST(RecentStrings, StaysWithinTheTextsPage) {
  auto* pages = static_cast<char*>(
      ::mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(pages, MAP_FAILED);
  ASSERT_EQ(::munmap(pages + 4096, 4096), 0);
  Strings strings;
  const uint32_t offset = strings.Add("forward pass of the encoder");
  const auto* stored = reinterpret_cast<const StoredString*>(strings.base() + offset);
  RecentStrings recent;
  for (size_t n = 0; n < 40; ++n) {
    char* text = pages + 4096 - n - 1;
    std::memset(text, 'f', n);
    text[n] = 0;
    recent.Clear();
    recent.Remember(strings.base(), text, stored);
    EXPECT_EQ(recent.FindTerminated(strings.base(), text), nullptr);
    EXPECT_EQ(recent.Find(strings.base(), text, n), nullptr);
  }
  ::munmap(pages, 4096);
}

}  // namespace
}  // namespace batchlight::inject
