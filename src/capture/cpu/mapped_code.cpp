#include "capture/cpu/mapped_code.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <functional>
#include <string>

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

bool MappedCode::Read(uint32_t pid, Process& process, int64_t now_ns) {
  const std::string lines = CodeLines(pid);
  const size_t hash = std::hash<std::string>()(lines);
  // One that has ended has none: what was known of it is still right.
  const bool is_new = !lines.empty() && hash != process.text_hash;
  process.every_ns = is_new ? kSoonestNs : std::min(process.every_ns * 2, kLatestNs);
  process.next_ns = now_ns + process.every_ns;
  if (!is_new) return false;
  process.text_hash = hash;
  process.space = ReadMaps(lines, modules_);
  return true;
}

const native::AddressSpace& MappedCode::Of(uint32_t pid, int64_t image_ns, int64_t now_ns) {
  if (processes_.size() >= kMostProcesses && !processes_.contains(pid)) ForgetOldest();
  Process& process = processes_[pid];
  process.asked_ns = now_ns;
  if (process.image_ns != image_ns) {
    process = {.image_ns = image_ns, .every_ns = kSoonestNs, .asked_ns = now_ns};
    Read(pid, process, now_ns);
  }
  return process.space;
}

bool MappedCode::Renew(uint32_t pid, int64_t now_ns) {
  const auto found = processes_.find(pid);
  if (found == processes_.end() || now_ns < found->second.next_ns) return false;
  return Read(pid, found->second, now_ns);
}

void MappedCode::ForgetOldest() {
  processes_.erase(std::min_element(
      processes_.begin(), processes_.end(),
      [](const auto& a, const auto& b) { return a.second.asked_ns < b.second.asked_ns; }));
}

}  // namespace batchlight::capture
