// Every input of tests/fuzz/corpus through its target and all commands: what fuzzing found once
// stays mended. Then inputs made of them and of the seeds by changing bytes, the same ones every
// time, for a minute in all at the most (FUZZ_SECONDS=S: S seconds a target).
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

#include "corpus_inputs.h"
#include "mutator.h"
#include "tests/fuzz/seeds.h"
#include "tests/fuzz/targets.h"

namespace batchlight::fuzz {
namespace {

using Target = void (*)(const uint8_t* data, size_t size);
using Clock = std::chrono::steady_clock;

constexpr size_t kRounds = 2000;
constexpr int kTargets = 0
#define TARGET(name, function) +1
#include "tests/fuzz/targets.def"
#include "tests/fuzz/tool_targets.def"
#undef TARGET
    ;
constexpr int kSeconds = 60 / kTargets;

// What takes gigabytes for a small input shall not pass for a slow one. A sanitizer reserves more.
void LimitMemory() {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  constexpr rlim_t kMostBytes = rlim_t{4} << 30;
  const rlimit limit{kMostBytes, kMostBytes};
  ASSERT_EQ(setrlimit(RLIMIT_DATA, &limit), 0);
#endif
}

void Send(Target run, const std::string& bytes) {
  run(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
}

void Replay(const std::string& name, Target run) {
  LimitMemory();
  std::vector<std::string> inputs = CorpusInputs(name);
  ASSERT_FALSE(inputs.empty());
  for (const auto& [seed, bytes] : SeedsOf(name)) inputs.push_back(bytes);
  std::vector<std::string> quick;  // only these are changed: many in the time there is
  for (const std::string& bytes : inputs) {
    const auto start = Clock::now();
    Send(run, bytes);
    if (Clock::now() - start < std::chrono::milliseconds(100)) quick.push_back(bytes);
  }
  if (quick.empty()) quick = inputs;
  const char* wanted = std::getenv("FUZZ_SECONDS");
  const auto end =
      Clock::now() + std::chrono::seconds(wanted != nullptr ? std::atoi(wanted) : kSeconds);
  Mutator mutator(1);
  size_t round = 0;
  for (; Clock::now() < end && (wanted != nullptr || round < kRounds); ++round) {
    Send(run, mutator.Mutate(quick[round % quick.size()]));
  }
  testing::Test::RecordProperty("rounds", static_cast<int>(round));
}

#define TARGET(name, function) \
  TEST(FuzzCorpus, name) { Replay(#name, function); }
#include "tests/fuzz/targets.def"
#include "tests/fuzz/tool_targets.def"
#undef TARGET

}  // namespace
}  // namespace batchlight::fuzz
