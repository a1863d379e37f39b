#include "capture/cpu/mapped_code.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <string>
#include <unordered_set>
#include <utility>

#include "base/split.h"
#include "format/timer_samples.h"

namespace batchlight::capture {
namespace {

const std::string kSamplesFile = std::string("/") + format::kTimerSamplesFile;
constexpr int64_t kSoonestNs = 50'000'000;
constexpr int64_t kLatestNs = 5'000'000'000;
// A job of days starts millions.
constexpr size_t kMostProcesses = 1024;

bool TakeHex(std::string_view& text, uint64_t* value, char behind) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value, 16);
  if (error != std::errc() || end == text.data() + text.size() || *end != behind) return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()) + 1);
  return true;
}

// "7f10a000-7f10c000 r-xp 00002000 fe:00 1234    /usr/lib/libc.so.6"
void AddMapping(std::string_view line, native::Modules& modules, native::AddressSpace& space) {
  constexpr size_t kFlags = 5;  // with the blank
  uint64_t begin = 0;
  uint64_t end = 0;
  uint64_t offset = 0;
  if (!TakeHex(line, &begin, '-') || !TakeHex(line, &end, ' ') || line.size() < kFlags) return;
  if (line[2] != 'x' || end <= begin) return;
  line.remove_prefix(kFlags);
  if (!TakeHex(line, &offset, ' ')) return;
  const size_t name = line.find_first_of("/[");
  space.Map(
      begin, end - begin, offset,
      name != std::string_view::npos ? modules.Find(std::string(line.substr(name))) : nullptr);
}

// Those of /proc/PID/maps that are code: the others change all the time. None of a process that
// does not write samples: one in a namespace of its own goes by a number that is another's here.
std::string CodeLines(uint32_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/maps");
  std::string lines;
  bool samples_itself = false;
  for (std::string line; std::getline(file, line);) {
    const size_t flags = line.find(' ') + 1;
    if (flags + 2 < line.size() && line[flags + 2] == 'x') lines += line + "\n";
    samples_itself = samples_itself || line.ends_with(kSamplesFile);
  }
  return samples_itself ? lines : "";
}

struct CodeAt {
  uint32_t unloads = 0;
  std::string lines;
};

// While nothing is unloaded, unless that goes on and on.
CodeAt LinesNow(uint32_t pid, const std::atomic<uint32_t>& unloads) {
  CodeAt code;
  for (int tries = 0; tries < 3; ++tries) {
    code.unloads = unloads.load();
    code.lines = CodeLines(pid);
    if (unloads.load() == code.unloads) break;
  }
  return code;
}

// Lines that both have.
std::string CommonLines(const std::string& before, const std::string& after) {
  std::unordered_set<std::string_view> known;
  for (const std::string_view line : SplitAt(before, '\n')) known.insert(line);
  std::string common;
  for (const std::string_view line : SplitAt(after, '\n')) {
    if (known.contains(line)) common.append(line) += '\n';
  }
  return common;
}

}  // namespace

native::AddressSpace ReadMaps(std::string_view text, native::Modules& modules) {
  native::AddressSpace space;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    AddMapping(text.substr(0, end), modules, space);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return space;
}

void MappedCode::ReadAfterUnload(uint32_t pid, Process& process) {
  CodeAt now = LinesNow(pid, unloads_);
  if (now.lines.empty()) {  // it has ended: what was known of it is as good as it gets
    process.unloads = now.unloads;
    return;
  }
  process.lasting = ReadMaps(CommonLines(process.lines, now.lines), modules_);
  process.unloads = now.unloads;
  process.lines = std::move(now.lines);
  process.space = ReadMaps(process.lines, modules_);
  process.every_ns = kSoonestNs;
}

const native::AddressSpace& MappedCode::Of(uint32_t pid, int64_t image_ns, uint32_t unloads,
                                           int64_t now_ns) {
  if (processes_.size() >= kMostProcesses && !processes_.contains(pid)) ForgetOldest();
  Process& process = processes_[pid];
  process.asked_ns = now_ns;
  if (process.image_ns != image_ns) {
    CodeAt now = LinesNow(pid, unloads_);
    process = {.image_ns = image_ns,
               .next_ns = now_ns + kSoonestNs,
               .every_ns = kSoonestNs,
               .asked_ns = now_ns,
               .unloads = now.unloads,
               .lines = std::move(now.lines)};
    process.space = ReadMaps(process.lines, modules_);
    process.lasting = process.space;
  } else if (static_cast<int32_t>(unloads - process.unloads) > 0) {
    ReadAfterUnload(pid, process);
  }
  return unloads == process.unloads ? process.space : process.lasting;
}

bool MappedCode::Renew(uint32_t pid, uint32_t unloads, int64_t now_ns) {
  const auto found = processes_.find(pid);
  if (found == processes_.end() || now_ns < found->second.next_ns) return false;
  Process& process = found->second;
  if (unloads != process.unloads) return false;
  CodeAt now = LinesNow(pid, unloads_);
  // One that has ended has none: what was known of it is still right.
  const bool is_new = now.unloads == unloads && !now.lines.empty() && now.lines != process.lines;
  process.every_ns = is_new ? kSoonestNs : std::min(process.every_ns * 2, kLatestNs);
  process.next_ns = now_ns + process.every_ns;
  if (!is_new) return false;
  process.lines = std::move(now.lines);
  process.space = ReadMaps(process.lines, modules_);
  return true;
}

void MappedCode::ForgetOldest() {
  processes_.erase(std::min_element(
      processes_.begin(), processes_.end(),
      [](const auto& a, const auto& b) { return a.second.asked_ns < b.second.asked_ns; }));
}

}  // namespace batchlight::capture
