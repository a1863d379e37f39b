// What an earlier version of the format wrote must read the same forever:
// tests/recordings/version_N.* (tools/version_recording.py) hold every record of version N, in
// bytes that are never regenerated.
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>
#include <string>

#include "base/file.h"
#include "format/records.h"
#include "ingest/dump/trace_text.h"
#include "ingest/recording/recording.h"

namespace batchlight {
namespace {

std::string Stem(uint32_t version) {
  return std::string(BATCHLIGHT_SOURCE_DIR) + "/tests/recordings/version_" +
         std::to_string(version);
}

// Removes the version from a chunk's line, since a reader of the same version does not print it.
std::string Dump(const std::string& path, uint32_t version) {
  std::string text;
  const Status status = DumpRecording(path, {}, [&](std::string_view lines) {
    text += lines;
    return Status();
  });
  EXPECT_TRUE(status.ok()) << status.message();
  const std::string mark = " version=" + std::to_string(version);
  for (size_t at; (at = text.find(mark + '\n')) != std::string::npos;) text.erase(at, mark.size());
  return text;
}

TEST(FormatVersions, EveryVersionReadsAsItAlwaysDid) {
  for (uint32_t version = 1; version <= format::kFormatVersion; ++version) {
    SCOPED_TRACE(version);
    const auto expected = ReadWholeFile(Stem(version) + ".dump");
    ASSERT_TRUE(expected.ok()) << "a new format version is recorded by tools/version_recording.py";
    for (const char* form : {".batchlight", ".batchlight.live"}) {
      SCOPED_TRACE(form);
      EXPECT_EQ(Dump(Stem(version) + form, version), expected.value());
      const Result<Store> store = ReadRecording(Stem(version) + form);
      ASSERT_TRUE(store.ok()) << store.status().message();
      EXPECT_EQ(store->processes.size(), 1u);
    }
  }
}

// The line of a record in the dump of the current version.
std::string LineOf(const std::string& dump, const std::string& record) {
  std::istringstream lines(dump);
  for (std::string line; std::getline(lines, line);) {
    const size_t name = line.find(' ') + 1;
    if (line.starts_with('+') && line.substr(name, line.find(' ', name) - name) == record) {
      return line + ' ';
    }
  }
  return "";
}

// A record or field that this version's recording lacks was added later and needs a new version.
TEST(FormatVersions, TheRecordsHaveNotChangedWithinTheirVersion) {
  const std::string dump = ReadWholeFile(Stem(format::kFormatVersion) + ".dump").value();
  std::string line;
  const auto expect_field = [&](const std::string& field) {
    if (field == "byte_count" || line.empty()) return;
    EXPECT_NE(line.find(' ' + field + '='), std::string::npos)
        << line << "has no " << field << ": raise kFormatVersion (FORMAT.md, Versions)";
  };
#define RECORD_BEGIN(Name, number, since, doc)                      \
  line = std::string(#Name) == "String" ? "" : LineOf(dump, #Name); \
  EXPECT_TRUE(!line.empty() || std::string(#Name) == "String")      \
      << #Name << " is not in version " << format::kFormatVersion   \
      << ": raise kFormatVersion (FORMAT.md, Versions)";            \
  EXPECT_LE(since, format::kFormatVersion) << #Name;
#define FIELD(type, name, doc) expect_field(#name);
#define RECORD_END(Name)
#include "format/records.def"
#undef RECORD_BEGIN
#undef FIELD
#undef RECORD_END
}

}  // namespace
}  // namespace batchlight
