// What is exported of a stretch of time is the same whether the rest was read or left out.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "export/exporter.h"
#include "ingest/recording/recording.h"

namespace batchlight {
namespace {

class TimesTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/bl_times_XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  static Store Read(const std::string& name, const RecordedParts& parts) {
    auto store = ReadRecording(
        std::string(BATCHLIGHT_SOURCE_DIR) + "/tests/recordings/h200_" + name + ".batchlight",
        parts);
    EXPECT_TRUE(store.ok()) << store.status().message();
    return store.ok() ? std::move(store).value() : Store();
  }

  std::string Export(const Store& store, const Exporter& exporter, const std::string& times) {
    ExportOptions options;
    options.output = folder_ + "/out";
    EXPECT_TRUE(options.selection.SetTimes(times).ok());
    const auto rows = exporter.run(store, options);
    EXPECT_TRUE(rows.ok()) << rows.status().message();
    std::stringstream text;
    text << std::ifstream(options.output).rdbuf();
    std::filesystem::remove(options.output);
    return text.str();
  }

  std::string folder_;
};

TEST_F(TimesTest, WhatIsLeftOutChangesNothing) {
  for (const char* name : {"train", "two_ranks", "tuned_gpt2"}) {
    const Store whole = Read(name, {});
    const int64_t end_ns = whole.duration_ns;
    size_t exported = 0;
    for (const auto& [first_ns, last_ns] :
         {std::pair(end_ns / 4, end_ns / 2), std::pair(end_ns * 9 / 10, end_ns),
          std::pair(int64_t{0}, end_ns / 8), std::pair(end_ns + 1, end_ns + 2)}) {
      const Store part = Read(name, {.first_ns = first_ns, .last_ns = last_ns});
      EXPECT_EQ(part.duration_ns, whole.duration_ns);
      EXPECT_LE(part.operator_calls.size(), whole.operator_calls.size());
      if (last_ns < end_ns / 4) {
        EXPECT_LT(part.operator_calls.size(), whole.operator_calls.size() / 2 + 1);
      }
      for (const Exporter& exporter : Exporters()) {
        if (exporter.name != "folded" && exporter.name != "speedscope" &&
            exporter.name != "perfetto") {
          continue;
        }
        for (const bool crosses : {false, true}) {
          const std::string edge = crosses ? ":" : "";
          const std::string times =
              edge + std::to_string(first_ns) + "/" + std::to_string(last_ns) + edge;
          SCOPED_TRACE(std::string(name) + " " + std::string(exporter.name) + " " + times);
          const std::string all = Export(whole, exporter, times);
          exported += all.size();
          EXPECT_TRUE(Export(part, exporter, times) == all);
        }
      }
    }
    EXPECT_GT(exported, 100'000u);
  }
}

}  // namespace
}  // namespace batchlight
