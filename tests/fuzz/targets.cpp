#include "tests/fuzz/targets.h"

#include <sys/mman.h>
#include <xxhash.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <utility>

#include "base/file.h"
#include "capture/session/session_protocol.h"
#include "fuzz_inputs.h"
#include "ingest/dump/trace_text.h"
#include "ingest/kineto/kineto_json.h"
#include "ingest/nsys/nsys_sqlite.h"
#include "ingest/recording/recording.h"
#include "inject/cupti/options.h"
#include "inject/rt/control.h"
#include "inject/testing/live_session.h"
#include "tests/fuzz/commands.h"
#include "tests/fuzz/input_file.h"

namespace batchlight::fuzz {
namespace {

// Reading a list of numbers in square time would be a fault too, which small inputs do not show.
constexpr size_t kMostBytes = 1 << 20;

void Use(Result<Store> store, const uint8_t* data, size_t size) {
  CheckResult(store);
  if (!store.ok()) return;
  RunCommands(store.value(), static_cast<uint32_t>(XXH3_64bits(data, size)));
  RunView(std::move(store).value());
}

void UseChunks(ChunkSet& set, const uint8_t* data, size_t size) {
  SortChunks(set);
  if (!DumpChunks(set, {}, [](std::string_view) { return Status(); }).ok()) std::abort();
  // One in four as --times reads it: a stretch of the first 67 ms.
  const uint64_t hash = XXH3_64bits(data, size);
  RecordedParts parts;
  if (hash % 4 == 0) {
    parts.first_ns = static_cast<int64_t>(hash >> 8 & 0x1ffffff);
    parts.last_ns = parts.first_ns + static_cast<int64_t>(hash >> 40 & 0x1ffffff);
  }
  Use(ReadChunks(std::move(set), parts), data, size);
}

}  // namespace

// The first byte says how the rest is read.
void FuzzRecording(const uint8_t* data, size_t size) {
  if (size == 0 || size > kMostBytes) return;
  if (data[0] % 3 == 2) {  // text that people edit
    const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
    const auto files = AssembleRecording(text);
    if (!files.ok()) return;
    std::string all;
    for (const auto& [name, bytes] : files.value()) all += bytes;
    const InputFile file(reinterpret_cast<const uint8_t*>(all.data()), all.size());
    ChunkSet set;
    if (LoadProcessFile(file.path(), set).ok()) UseChunks(set, data, size);
    return;
  }
  const InputFile file(data + 1, size - 1);
  ChunkSet set;
  const Status loaded =
      data[0] % 3 == 0 ? LoadSealedFile(file.path(), set) : LoadProcessFile(file.path(), set);
  if (loaded.ok()) UseChunks(set, data, size);
}

void FuzzNsys(const uint8_t* data, size_t size) {
  if (size > kMostBytes) return;
  const InputFile file(data, size);
  Use(ImportNsysSqlite(file.path()), data, size);
}

void FuzzKineto(const uint8_t* data, size_t size) {
  if (size > kMostBytes) return;
  const InputFile file(data, size);
  Use(ImportKinetoJson(file.path()), data, size);
}

void FuzzControlPage(const uint8_t* data, size_t size) {
  static inject::LiveSession session("/dev/shm");
  session.SetEnvironment();
  // Beginnings are as good as whole pages: the rest is zero.
  auto* bytes = reinterpret_cast<uint8_t*>(&session.page());
  std::memset(bytes, 0, format::kControlBytes);
  std::memcpy(bytes, data, std::min<size_t>(size, format::kControlBytes));
  session.page().version = format::kFormatVersion;
  session.page().magic = format::kControlMagic;
  if (!inject::MapControlPage()) return;
  format::ControlPage* page = inject::Control();
  (void)inject::cupti::ParseOptions(page->extra);
  munmap(page, format::kControlBytes);
}

void FuzzSessionRequest(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  (void)capture::Reply::Decode(text);
  const auto request = capture::Request::Decode(text);
  if (!request.ok()) return;
  // What was understood can be said again, and means the same.
  const auto again = capture::Request::Decode(request->Encode());
  if (!again.ok() || again->values != request->values || again->verb != request->verb) std::abort();
  const auto options = capture::ReadStartRequest(request.value());
  if (!options.ok()) return;
  const auto back = capture::ReadStartRequest(capture::MakeStartRequest(options.value()));
  if (!back.ok() || back->output != options->output || back->exports != options->exports ||
      back->trigger != options->trigger) {
    std::abort();
  }
}

}  // namespace batchlight::fuzz
