#include "analysis/breakdown/event_groups.h"

#include <algorithm>

#include "analysis/breakdown/phase_stretches.h"
#include "analysis/cuda/cuda_call.h"
#include "analysis/phases/phase_marks.h"

namespace batchlight {
namespace {

std::string CopyText(const MemcpysTable& copies, uint32_t row) {
  return std::string(Label(copies.copy_kind[row])) + ", " +
         LabelInSentence(copies.source_kind[row]) + " to " +
         LabelInSentence(copies.destination_kind[row]);
}

// What a call of the C library is about, as far as its name leaves it open.
constexpr std::string_view kFileKinds[] = {"", " (file)", " (device)", " (pipe)", " (socket)"};

uint32_t FileKindOf(std::string_view file) {
  if (file.empty() || file.starts_with("anon_inode:")) return 0;
  if (file.starts_with("/dev/")) return 2;
  if (file.starts_with("pipe:")) return 3;
  return file.starts_with("socket:") ? 4 : 1;
}

}  // namespace

uint32_t EventNames::Key(EventRef event) const {
  switch (event.kind) {
    case EventKind::kRange:
      return store_.nvtx_ranges.message[event.row].value;
    case EventKind::kPhaseCall:
      return store_.phase_calls.name[event.row].value;
    case EventKind::kModule:
      return store_.module_calls.class_name[event.row].value;
    case EventKind::kOperator:
      return store_.operator_calls.name[event.row].value;
    case EventKind::kCudaCall:
      return store_.api_calls.name[event.row].value;
    case EventKind::kOsCall:
      return store_.os_calls.name[event.row].value << 3 |
             FileKindOf(store_.Text(store_.os_calls.file[event.row]));
    case EventKind::kMpiCall:
      return store_.mpi_events.name[event.row].value;
    case EventKind::kKernel:
    case EventKind::kCollective:
      return store_.kernels.demangled_name[event.row].value;
    case EventKind::kCopy:
      return uint32_t{batchlight::Number(store_.memcpys.copy_kind[event.row])} << 16 |
             uint32_t{batchlight::Number(store_.memcpys.source_kind[event.row])} << 8 |
             batchlight::Number(store_.memcpys.destination_kind[event.row]);
    case EventKind::kMemset:
      return batchlight::Number(store_.memsets.memory_kind[event.row]);
    default:
      return 0;
  }
}

std::string EventNames::Make(EventRef event) const {
  const StringId name{Key(event)};
  switch (event.kind) {
    case EventKind::kNone:
      return "(no recorded event)";
    case EventKind::kRange:
      return NameWithoutNumbers(store_.Text(name));
    case EventKind::kPhaseCall:
      return name.IsNone() ? std::string(Label(store_.phase_calls.phase[event.row]))
                           : std::string(store_.Text(name));
    case EventKind::kCudaCall:
      return std::string(PlainApiName(store_.Text(name)));
    case EventKind::kOsCall:
      return std::string(store_.Text(store_.os_calls.name[event.row])) +
             std::string(kFileKinds[name.value & 7]);
    case EventKind::kGraph:
      return "CUDA graph";
    case EventKind::kCopy:
      return CopyText(store_.memcpys, event.row);
    case EventKind::kMemset:
      return "memory set, " + LabelInSentence(store_.memsets.memory_kind[event.row]);
    case EventKind::kLaunch:
      return "(launch on its way to the GPU)";
    case EventKind::kSmaller:
      return "(smaller ones)";
    default:
      return std::string(store_.Text(name));
  }
}

uint32_t EventNames::Number(EventRef event) {
  const uint32_t key = event.row == kNoRow ? 0 : Key(event);
  const auto [known, added] = known_[size_t(event.kind)].try_emplace(key, 0);
  if (!added) return known->second;
  std::string text = Make(event);
  const auto [same, is_new] = by_text_.try_emplace(text, static_cast<uint32_t>(texts_.size()));
  known->second = same->second;
  if (is_new) {
    is_launch_.push_back(batchlight::IsLaunch(text));
    texts_.push_back(std::move(text));
  }
  return known->second;
}

EventGroups::Key EventGroups::KeyOf(const Occurrence& occurrence) {
  const EventRef event = occurrence.event;
  Key key{occurrence.asked.phase, event.kind, names_.Number(event), kNoName};
  if (event.kind == EventKind::kCudaCall && occurrence.op != kNoRow && !names_.IsLaunch(key.name)) {
    key.detail = names_.Number({EventKind::kOperator, occurrence.op});
  }
  const EventRef before = occurrence.asked.before;
  if (event.kind == EventKind::kNone && before.kind != EventKind::kNone) {
    key.detail = names_.Number(before);
  }
  return key;
}

size_t EventGroups::GroupOf(Key key) {
  if (last_ != SIZE_MAX && groups_[last_].key == key) return last_;
  auto found = known_.find(key);
  if (found == known_.end() && groups_.size() >= kMost) {
    key = {key.phase, EventKind::kSmaller, names_.Number({EventKind::kSmaller, kNoRow}), kNoName};
    found = known_.find(key);
  }
  if (found == known_.end()) {
    found = known_.emplace(key, groups_.size()).first;
    groups_.push_back({.key = key});
    bin_ns_.resize(groups_.size() * bins_);
    bin_count_.resize(groups_.size() * bins_);
  }
  return last_ = found->second;
}

void EventGroups::Add(const Occurrence& occurrence) {
  const size_t row = GroupOf(KeyOf(occurrence));
  const uint32_t step = occurrence.asked.step;
  const size_t bin = row * bins_ + bin_of_step_[step];
  bin_ns_[bin] += occurrence.ns;
  ++bin_count_[bin];
  if (!steady_[step]) return;
  Group& group = groups_[row];
  group.total_ns += occurrence.ns;
  ++group.count;
  if (occurrence.ns > group.longest.ns) group.longest = occurrence;
}

std::string EventGroups::OperatorOf(EventRef event) const {
  const std::vector<WorkOwner>* owners = nullptr;
  switch (event.kind) {
    case EventKind::kKernel:
    case EventKind::kCollective:
      owners = &work_.kernels;
      break;
    case EventKind::kGraph:
      owners = &work_.graph_launches;
      break;
    case EventKind::kCopy:
      owners = &work_.memcpys;
      break;
    case EventKind::kMemset:
      owners = &work_.memsets;
      break;
    default:
      return "";
  }
  if (event.row >= owners->size() || (*owners)[event.row].op.IsNone()) return "";
  return std::string(store_.Text(store_.operator_calls.name[(*owners)[event.row].op.row()]));
}

std::string EventGroups::TextOf(EventRef event) {
  return event.kind == EventKind::kNone ? "" : names_.Text(names_.Number(event));
}

EventGroup EventGroups::Describe(size_t row) {
  const Group& group = groups_[row];
  EventGroup made{.kind = group.key.kind,
                  .name = names_.Text(group.key.name),
                  .total_ns = group.total_ns,
                  .count = group.count};
  if (group.count > 0) {
    const Occurrence& longest = group.longest;
    made.longest = {longest.ns, longest.start_ns, longest.asked.step, TextOf(longest.asked.after),
                    TextOf(longest.asked.before)};
    made.op = OperatorOf(longest.event);
  }
  if (group.key.detail != kNoName) {
    const bool call = group.key.kind == EventKind::kCudaCall;
    (call ? made.op : made.longest.before) = names_.Text(group.key.detail);
  }
  const auto first = static_cast<ptrdiff_t>(row * bins_);
  const auto end = first + static_cast<ptrdiff_t>(bins_);
  made.bin_ns.assign(bin_ns_.begin() + first, bin_ns_.begin() + end);
  made.bin_count.assign(bin_count_.begin() + first, bin_count_.begin() + end);
  return made;
}

std::vector<std::vector<EventGroup>> EventGroups::Take(size_t phases) {
  std::vector<std::vector<EventGroup>> lists(phases);
  for (size_t row = 0; row < groups_.size(); ++row) {
    lists[groups_[row].key.phase].push_back(Describe(row));
  }
  for (std::vector<EventGroup>& list : lists) {
    std::stable_sort(list.begin(), list.end(), [](const EventGroup& a, const EventGroup& b) {
      return a.total_ns > b.total_ns;
    });
  }
  return lists;
}

}  // namespace batchlight
