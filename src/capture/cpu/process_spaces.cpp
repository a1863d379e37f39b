#include "capture/cpu/process_spaces.h"

namespace batchlight::capture {

const native::AddressSpace& ProcessSpaces::Find(uint32_t pid) const {
  static const native::AddressSpace kNone;
  const auto found = processes_.find(pid);
  return found == processes_.end() || !found->second.space ? kNone : *found->second.space;
}

native::AddressSpace& ProcessSpaces::Change(uint32_t pid) {
  const auto [place, added] = processes_.try_emplace(pid);
  if (added) place->second.threads.insert(pid);
  auto& space = place->second.space;
  if (!space) {
    space = std::make_shared<native::AddressSpace>();
  } else if (space.use_count() > 1) {
    space = std::make_shared<native::AddressSpace>(*space);
  }
  return *space;
}

void ProcessSpaces::Begin(uint32_t pid, uint32_t tid, uint32_t parent_pid) {
  Process process;
  if (pid != parent_pid) {
    const auto parent = processes_.find(parent_pid);
    if (parent != processes_.end()) process.space = parent->second.space;
    process.threads.insert(tid);
    processes_[pid] = std::move(process);
    return;
  }
  const auto [place, added] = processes_.try_emplace(pid);
  if (added) place->second.threads.insert(pid);
  place->second.threads.insert(tid);
}

void ProcessSpaces::Exec(uint32_t pid) {
  Process& process = processes_[pid];
  process.space.reset();
  process.threads = {pid};
}

void ProcessSpaces::End(uint32_t pid, uint32_t tid) {
  const auto found = processes_.find(pid);
  if (found == processes_.end()) return;
  found->second.threads.erase(tid);
  if (found->second.threads.empty()) processes_.erase(found);
}

}  // namespace batchlight::capture
