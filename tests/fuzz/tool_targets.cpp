// What commands are given besides runs.
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/desync/desync.h"
#include "analysis/desync/flight_dump.h"
#include "analysis/partial/job_result.h"
#include "analysis/partial/partial_bytes.h"
#include "ingest/open_input.h"
#include "probe/gpu_result.h"
#include "report/terminal/desync_text.h"
#include "report/terminal/ranks_text.h"
#include "serve/api.h"
#include "tests/fuzz/targets.h"

namespace batchlight::fuzz {
namespace {

std::string_view TextOf(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

serve::ApiContext MakeContext() {
  serve::ApiContext context{.runs = {}, .version = "fuzz"};
  context.runs.push_back(std::make_unique<serve::Run>(serve::RunSource{
      .path = "fuzz",
      .read =
          [] { return OpenInput(BATCHLIGHT_SOURCE_DIR "/tests/recordings/h200_train.batchlight"); },
      .version = [] { return uint64_t{0}; },
      .growing = [] { return false; },
      .steps = {}}));
  if (!context.runs[0]->Read().ok()) std::abort();
  return context;
}

}  // namespace

// What was understood says the same again; two ranks that are alike are one job.
void FuzzRankPart(const uint8_t* data, size_t size) {
  std::vector<JobPart> parts;
  for (int rank = 0; rank < 2; ++rank) {
    auto part = DecodeJobPart(TextOf(data, size), rank == 0);
    if (!part) return;
    parts.push_back(*std::move(part));
  }
  if (!DecodeJobPart(EncodeJobPart(parts[0]), true)) std::abort();
  const auto job = CompareRanks(std::move(parts), JobClock::kCollectives);
  if (!job.ok()) return;
  (void)RanksAsText(job.value(), {}, 20);
  (void)RanksAsJson(job.value());
}

void FuzzGpuResult(const uint8_t* data, size_t size) {
  const auto result = probe::ParseGpuResult("fuzz", std::string(TextOf(data, size)));
  if (!result.ok()) return;
  const std::vector<probe::GpuResult> both = {result.value(), result.value()};
  (void)probe::GpuText(both, &both[0]);
  (void)probe::GpuTable(both);
}

// Of two ranks that wrote the same.
void FuzzFlightDump(const uint8_t* data, size_t size) {
  constexpr size_t kMostValues = 100'000;
  auto dump = ReadFlightDump(TextOf(data, size), kMostValues);
  if (!dump.ok()) return;
  std::vector<FlightDump> dumps(2, std::move(dump).value());
  for (int32_t rank = 0; rank < 2; ++rank) dumps[static_cast<size_t>(rank)].rank = rank;
  const DesyncResult result = FindDesync(dumps);
  (void)DesyncAsText(result, {}, 20);
  (void)DesyncAsJson(result);
}

// The first byte picks the call.
void FuzzViewRequest(const uint8_t* data, size_t size) {
  static const serve::ApiContext context = MakeContext();
  if (size == 0) return;
  const auto calls = serve::RunCalls();
  const serve::RunCallEntry& entry = calls[data[0] % calls.size()];
  if (entry.name == "notes_put") return;  // it writes beside the recording: RunView() has it
  (void)serve::AnswerCall(context, entry.name, TextOf(data + 1, size - 1));
}

}  // namespace batchlight::fuzz
