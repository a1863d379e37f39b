#include "capture/cpu/cpu_log.h"

#include <algorithm>
#include <cstdio>

#include "base/demangled.h"
#include "base/thread_pool.h"
#include "capture/cpu/kernel_names.h"
#include "native/debug_file.h"

namespace batchlight::capture {
namespace {

constexpr size_t kChunkBytes = 4 << 20;
// The deepest stack, with some files that it is the first to name.
constexpr size_t kSampleBytes = 256 << 10;
constexpr uint32_t kOfKernel = 1;
constexpr std::string_view kKernel = "[kernel]";

size_t BytesOf(std::string_view text) {
  return sizeof(format::StringRecord) + 16 + format::PadTo8(text.size());
}

std::string_view Cut(std::string_view text) { return text.substr(0, format::kMaxStringBytes / 8); }

template <typename Place>
void MakeDistinct(std::vector<Place>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

// Each chunk has them anew. Code without an end gets no more names at some point, in however many
// files it is.
template <typename Place>
void AddPlaceTo(std::vector<Place>& places, const Place& place) {
  constexpr size_t kMostPlaces = 4 << 20;
  if (places.size() == kMostPlaces) {
    MakeDistinct(places);
    if (places.size() > kMostPlaces / 2) places.resize(kMostPlaces / 2);
  }
  places.push_back(place);
}

// "python3.11+0x5d6400"
std::string PlaceName(const std::string& path, uint64_t address) {
  char text[24];
  std::snprintf(text, sizeof text, "+0x%llx", static_cast<unsigned long long>(address));
  return path.substr(path.rfind('/') + 1) + text;
}

}  // namespace

Result<CpuLog> CpuLog::Create(const LiveFolder& live_folder, const std::string& file,
                              uint32_t stream) {
  ASSIGN_OR_RETURN(ToolChunks chunks, ToolChunks::Create(live_folder, {file, stream, kChunkBytes}));
  return CpuLog(std::move(chunks));
}

format::ChunkWriter* CpuLog::Writer(size_t bytes, int64_t at_ns) {
  format::ChunkWriter* writer = chunks_.ForRecord(bytes, at_ns);
  if (chunks_.chunk_index() != chunk_) {
    chunk_ = chunks_.chunk_index();
    modules_.clear();
    stacks_.clear();
    inlined_names_.clear();
  }
  return writer;
}

template <typename Record>
void CpuLog::Add(const Record& record, int64_t at_ns) {
  format::ChunkWriter* writer = Writer(sizeof record, at_ns);
  if (writer != nullptr) writer->Add(record, static_cast<uint64_t>(at_ns));
}

void CpuLog::AddSwitch(const format::CpuSwitchRecord& record, int64_t at_ns) { Add(record, at_ns); }

void CpuLog::AddThread(format::CpuThreadRecord record, std::string_view name, int64_t at_ns) {
  format::ChunkWriter* writer = Writer(BytesOf(name) + sizeof record, at_ns);
  if (writer == nullptr) return;
  const auto ticks = static_cast<uint64_t>(at_ns);
  if (!name.empty()) record.name = writer->AddString(Cut(name), ticks);
  writer->Add(record, ticks);
}

void CpuLog::AddCounter(format::Counter counter, uint64_t value, int64_t at_ns) {
  format::CounterRecord record{};
  record.counter = static_cast<uint32_t>(counter);
  record.value = value;
  Add(record, at_ns);
}

uint32_t CpuLog::ModuleId(const native::Module* module, bool in_kernel, uint64_t ticks,
                          format::ChunkWriter& writer) {
  if (module == nullptr && !in_kernel) return 0;
  const auto [place, added] =
      modules_.try_emplace({module, in_kernel}, static_cast<uint32_t>(modules_.size()) + 1);
  if (added) {
    format::NativeModuleRecord record{};
    record.id = place->second;
    record.flags = in_kernel ? kOfKernel : 0;
    record.path = writer.AddString(in_kernel ? kKernel : Cut(module->path()), ticks);
    if (!in_kernel && !module->build_id().empty()) {
      record.build_id = writer.AddString(module->build_id(), ticks);
    }
    writer.Add(record, ticks);
  }
  return place->second;
}

void CpuLog::AddPlace(const native::Module& module, uint64_t address) {
  AddPlaceTo(places_, Place(&module, address));
}

uint32_t CpuLog::StackId(std::span<const StackFrame> frames, uint64_t ticks,
                         format::ChunkWriter& writer) {
  uint32_t stack = 0;
  for (size_t i = frames.size(); i-- > 0;) {
    const StackFrame& frame = frames[i];
    const uint32_t module = ModuleId(frame.place.module, frame.in_kernel, ticks, writer);
    const auto [place, added] = stacks_.try_emplace({stack, module, frame.place.address},
                                                    static_cast<uint32_t>(stacks_.size()) + 1);
    if (added) {
      writer.Add(format::NativeStackRecord{.id = place->second,
                                           .parent = stack,
                                           .module = module,
                                           .address = frame.place.address},
                 ticks);
      if (frame.in_kernel) AddPlaceTo(kernel_places_, Place(nullptr, frame.place.address));
      if (frame.place.module != nullptr) AddPlace(*frame.place.module, frame.place.address);
    }
    stack = place->second;
  }
  return stack;
}

void CpuLog::AddSample(format::CpuSampleRecord sample, std::span<const StackFrame> frames,
                       int64_t at_ns) {
  format::ChunkWriter* writer = Writer(kSampleBytes, at_ns);
  if (writer == nullptr) return;
  const auto ticks = static_cast<uint64_t>(at_ns);
  sample.stack = StackId(frames, ticks, *writer);
  writer->Add(sample, ticks);
}

void CpuLog::AddName(const native::Module* module, bool in_kernel, uint64_t begin, uint64_t end,
                     std::string_view name, int64_t at_ns) {
  format::ChunkWriter* writer = Writer(kSampleBytes, at_ns);
  if (writer == nullptr) return;
  const auto ticks = static_cast<uint64_t>(at_ns);
  format::NativeSymbolRecord record{};
  record.module = ModuleId(module, in_kernel, ticks, *writer);
  record.name = writer->AddString(Cut(name), ticks);
  record.begin = begin;
  record.end = end;
  writer->Add(record, ticks);
}

// Files are opened here, by a thread with the right rights.
std::vector<CpuLog::FilePlaces> CpuLog::PlacesByFile(native::DwarfBudget& budget,
                                                     uint64_t& left_out) const {
  std::vector<FilePlaces> files;
  for (size_t begin = 0, end = 0; begin < places_.size(); begin = end) {
    const native::Module& module = *places_[begin].first;
    while (end < places_.size() && places_[end].first == &module) ++end;
    if (module.file() == nullptr) continue;
    const int64_t sums_left = budget.sums_left;
    files.push_back({.places = std::span(places_).subspan(begin, end - begin),
                     .debug_file = native::FindDebugFile(*module.file(), module.path(), budget)});
    if (budget.sums_left < std::min<int64_t>(sums_left, 0)) left_out += end - begin;
  }
  return files;
}

void CpuLog::AddNames(bool kernel, int64_t at_ns) {
  MakeDistinct(places_);
  native::DwarfBudget budget;
  uint64_t left_out = 0;
  std::vector<FilePlaces> files = PlacesByFile(budget, left_out);
  ParallelFor(files.size(), [&](size_t i) {
    FilePlaces& file = files[i];
    std::vector<uint64_t> addresses;
    for (const auto& [module, address] : file.places) addresses.push_back(address);
    file.inlined = native::FindInlinedFunctions(*file.places.front().first->file(),
                                                file.debug_file.get(), addresses, budget);
  });
  uint64_t symbols_left = native::kMostSymbols;
  for (const FilePlaces& file : files) {
    AddNamesOf(file, symbols_left, at_ns);
    AddInlinedIn(file, at_ns);
    left_out += file.inlined.left_out;
  }
  inlined_names_.clear();
  if (left_out > 0) AddCounter(format::Counter::kNativeInlinesUnread, left_out, at_ns);
  MakeDistinct(kernel_places_);
  if (kernel && !kernel_places_.empty()) AddKernelNames(at_ns);
}

void CpuLog::AddInlinedIn(const FilePlaces& file, int64_t at_ns) {
  const native::InlinedFunctions& inlined = file.inlined;
  const auto ticks = static_cast<uint64_t>(at_ns);
  for (size_t i = 0; i < inlined.calls.size(); ++i) {
    uint32_t level = 0;
    for (const uint32_t call : inlined.calls[i]) {
      format::ChunkWriter* writer = Writer(kSampleBytes, at_ns);
      if (writer == nullptr) return;
      const std::string& name = inlined.names[call];
      format::StringRef& text = inlined_names_[&name];
      if (text == 0) text = writer->AddString(Cut(name), ticks);
      writer->Add(format::NativeInlinedRecord{.module = ModuleId(file.places[i].first, false, ticks,
                                                                 *writer),
                                              .name = text,
                                              .address = file.places[i].second,
                                              .level = ++level},
                  ticks);
    }
  }
}

void CpuLog::AddNamesOf(const FilePlaces& file, uint64_t& symbols_left, int64_t at_ns) {
  const native::Module& module = *file.places.front().first;
  const native::FunctionNames names(*module.file(), file.debug_file.get(), symbols_left);
  uint64_t named_until = 0;
  for (const auto& [of_module, place] : file.places) {
    if (place < named_until) continue;
    if (const native::Function* function = names.Find(place)) {
      named_until = function->end;
      AddName(&module, false, function->begin, function->end, DemangledName(function->name), at_ns);
    } else if (const auto extent = module.file()->tables().ExtentAt(place)) {
      // Without a symbol it is at least known where the function begins, so that all places in it
      // are one.
      named_until = extent->end;
      AddName(&module, false, extent->begin, extent->end, PlaceName(module.path(), extent->begin),
              at_ns);
    }
  }
}

void CpuLog::AddKernelNames(int64_t at_ns) {
  const std::vector<KernelFunction> functions = ReadKernelFunctions();
  const KernelFunction* last = nullptr;
  for (const auto& [of_kernel, place] : kernel_places_) {
    const auto after = std::upper_bound(
        functions.begin(), functions.end(), place,
        [](uint64_t value, const KernelFunction& function) { return value < function.begin; });
    if (after == functions.begin() || after == functions.end()) continue;
    const KernelFunction& function = *std::prev(after);
    if (&function == last) continue;
    last = &function;
    AddName(nullptr, true, function.begin, after->begin, function.name, at_ns);
  }
}

}  // namespace batchlight::capture
