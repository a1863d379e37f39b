// Recordings with changed bytes, the same ones every time: each must give a store that keeps its
// promises, or an error. Made of tests/recordings: the texts, the real ones taken on an H200, and
// those of earlier versions; and of what fuzzing found once. test.sh runs it under AddressSanitizer
// with FUZZ_SECONDS=10 a test.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/file.h"
#include "corpus_inputs.h"
#include "fuzz_inputs.h"
#include "ingest/dump/trace_text.h"
#include "mutator.h"
#include "rounds.h"
#include "tests/support/sealed_bytes.h"

namespace batchlight::fuzz {
namespace {

const std::string kRecordings = std::string(BATCHLIGHT_SOURCE_DIR) + "/tests/recordings";
constexpr char kSealed = 0;  // first byte of an input: how it is read
constexpr char kProcessFile = 1;
constexpr char kText = 2;

std::vector<std::string> FilesWith(std::string_view extension) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(kRecordings)) {
    if (entry.path().extension() == extension) paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

// The inputs of tests/fuzz/corpus/recording that are read so.
std::vector<std::string> FoundOnce(char how) {
  std::vector<std::string> inputs = CorpusInputs("recording");
  std::erase_if(inputs, [how](const std::string& input) { return input.front() != how; });
  EXPECT_FALSE(inputs.empty());
  return inputs;
}

// The chunks of a sealed recording as a process file has them, each cut to its last used page.
std::string ProcessFile(const std::string& path) {
  ChunkSet set;
  EXPECT_TRUE(LoadSealedFile(path, set).ok()) << path;
  std::string file;
  BlockUnpacker unpacker;
  for (const StoredChunk& stored : set.chunks) {
    const format::ChunkView chunk = unpacker.Open(stored);
    const size_t begin = file.size();
    file.append(reinterpret_cast<const char*>(chunk.bytes.data()), format::UsedBytes(chunk));
    const auto pages =
        static_cast<uint32_t>((file.size() - begin + format::kPageBytes - 1) / format::kPageBytes);
    const uint32_t chunk_bytes = pages * format::kPageBytes;
    std::memcpy(file.data() + begin + offsetof(format::ChunkHeader, chunk_bytes), &chunk_bytes,
                sizeof chunk_bytes);
    file.resize(begin + chunk_bytes);
  }
  return file;
}

void Fuzz(const std::vector<std::string>& seeds, uint32_t number, int usual_rounds) {
  for (const std::string& seed : seeds) {
    FuzzInput(reinterpret_cast<const uint8_t*>(seed.data()), seed.size());
  }
  Mutator mutator(number);
  size_t round = 0;
  for (Rounds rounds(usual_rounds); rounds.Next(); ++round) {
    const std::string bytes = mutator.Mutate(seeds[round % seeds.size()]);
    SCOPED_TRACE(round);
    FuzzInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  }
}

TEST(RecordingFuzz, ProcessFiles) {
  std::vector<std::string> seeds = FoundOnce(kProcessFile);
  for (const std::string& path : FilesWith(".txt")) {
    const auto files = AssembleRecording(ReadWholeFile(path).value());
    ASSERT_TRUE(files.ok()) << path;
    seeds.emplace_back(1, kProcessFile);
    for (const auto& [name, bytes] : files.value()) seeds.back() += bytes;
  }
  for (const std::string& path : FilesWith(".batchlight")) {
    seeds.push_back(std::string(1, kProcessFile) + ProcessFile(path));
  }
  ASSERT_GE(seeds.size(), 10u);
  Fuzz(seeds, 20260101, 2000);
}

TEST(RecordingFuzz, SealedFiles) {
  std::vector<std::string> seeds = FoundOnce(kSealed);
  for (const std::string& path : FilesWith(".txt")) {
    const auto files = AssembleRecording(ReadWholeFile(path).value());
    ASSERT_TRUE(files.ok()) << path;
    seeds.push_back(std::string(1, kSealed) + testing_support::SealedBytes(files.value(), false));
  }
  for (const std::string& path : FilesWith(".batchlight")) {
    seeds.push_back(std::string(1, kSealed) + ReadWholeFile(path).value());
  }
  ASSERT_GE(seeds.size(), 11u);
  Fuzz(seeds, 20260105, 1000);
}

// What `trace assemble` reads is text that people edit.
TEST(RecordingFuzz, Texts) {
  std::vector<std::string> seeds;
  for (const std::string& path : FilesWith(".txt")) seeds.push_back(ReadWholeFile(path).value());
  for (const std::string& path : FilesWith(".dump")) seeds.push_back(ReadWholeFile(path).value());
  for (const std::string& input : FoundOnce(kText)) seeds.push_back(input.substr(1));
  Mutator mutator(20260106);
  size_t round = 0;
  for (Rounds rounds(1000); rounds.Next(); ++round) {
    SCOPED_TRACE(round);
    const auto files = AssembleRecording(mutator.Mutate(seeds[round % seeds.size()]));
    if (!files.ok()) {
      EXPECT_EQ(files.status().exit_code(), 3);
      continue;
    }
    std::string bytes(1, kProcessFile);
    for (const auto& [name, file] : files.value()) bytes += file;
    FuzzInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  }
}

}  // namespace
}  // namespace batchlight::fuzz
