#include "tests/fuzz/seeds.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>

#include "base/file.h"
#include "capture/session/session_protocol.h"
#include "format/control.h"
#include "ingest/dump/trace_text.h"
#include "nsys_seed.h"

namespace batchlight::fuzz {
namespace {

constexpr char kTests[] = BATCHLIGHT_SOURCE_DIR "/tests/";

// The first byte says how the rest is read (targets.cpp).
std::vector<Seed> Recordings() {
  constexpr size_t kMostBytes = 60'000;
  std::vector<Seed> seeds;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(kTests) + "recordings")) {
    if (!entry.is_regular_file()) continue;
    const std::string name = entry.path().filename();
    const std::string bytes = ReadWholeFile(entry.path()).value();
    if (bytes.size() > kMostBytes) continue;
    if (entry.path().extension() == ".batchlight") seeds.emplace_back(name, '\0' + bytes);
    if (entry.path().extension() != ".txt") continue;
    seeds.emplace_back(name, '\2' + bytes);
    std::string files(1, '\1');
    const auto assembled = AssembleRecording(bytes);
    for (const auto& [file, content] : assembled.value()) files += content;
    seeds.emplace_back(name + ".blp", files);
  }
  std::sort(seeds.begin(), seeds.end());
  return seeds;
}

std::vector<Seed> KinetoTraces() {
  std::vector<Seed> seeds;
  for (const char* name : {"training.json", "autograd_array.json"}) {
    seeds.emplace_back(name, ReadWholeFile(kTests + std::string("kineto/") + name).value());
  }
  return seeds;
}

Seed ControlPage() {
  std::string page(sizeof(format::ControlPage), '\0');
  const std::string extra =
      "cuda.record=kernels,copies\ncuda.graph_trace=node\nwindow.first=10\nwindow.last=20\n";
  page.replace(offsetof(format::ControlPage, extra), extra.size(), extra);
  return {"page", page};
}

Seed StartRequest() {
  capture::CaptureOptions options;
  options.output = "report";
  options.trigger = format::CaptureTrigger::kSteps;
  options.exports = {"sqlite"};
  return {"start", capture::MakeStartRequest(options).Encode()};
}

}  // namespace

std::vector<Seed> SeedsOf(const std::string& target) {
  if (target == "recording") return Recordings();
  if (target == "nsys") return {{"seed", NsysSeed()}};
  if (target == "kineto") return KinetoTraces();
  if (target == "control_page") return {ControlPage()};
  if (target == "session_request") return {StartRequest()};
  return {};  // the corpus has some
}

}  // namespace batchlight::fuzz
