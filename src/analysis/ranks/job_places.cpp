#include "analysis/ranks/job_places.h"

#include <algorithm>
#include <set>

#include "analysis/ranks/process_ranks.h"
#include "base/split.h"
#include "format/launchers.h"

namespace batchlight {
namespace {

// 0 for what is not a positive number.
int32_t PositiveNumber(std::string_view text) {
  int32_t number = 0;
  return ReadNumber(text, number) ? std::max(number, 0) : 0;
}

// Of a small JSON object without inner objects, the value of `key` without quotes; "" if none.
std::string_view MemberText(std::string_view object, std::string_view key) {
  const size_t at = object.find('"' + std::string(key) + '"');
  if (at == object.npos) return {};
  size_t begin = object.find(':', at + key.size() + 2);
  if (begin == object.npos) return {};
  begin = object.find_first_not_of(" \t\r\n", begin + 1);
  if (begin == object.npos) return {};
  const bool quoted = object[begin] == '"';
  begin += quoted ? 1 : 0;
  const size_t end = object.find_first_of(quoted ? "\"" : ",} \t\r\n", begin);
  return end == object.npos ? std::string_view() : object.substr(begin, end - begin);
}

class Places {
 public:
  Places(const Store& store, const NcclCalls& nccl)
      : store_(store), nccl_(nccl), places_(store.processes.size()) {}

  std::vector<JobPlace> Find() {
    const std::vector<int32_t> ranks = FindProcessRanks(store_);
    for (size_t row = 0; row < places_.size(); ++row) places_[row].rank = ranks[row];
    for (const JobPlace& place : places_) told_.push_back(place.rank >= 0);
    UseNccl();
    UseSettings();
    NameOperators();
    CountRanks();
    return std::move(places_);
  }

 private:
  void UseNccl() {
    std::vector<uint32_t> largest(places_.size(), 1);
    for (const auto& [id, communicator] : nccl_.communicators) {
      for (const auto& [process, rank] : communicator.rank_of) {
        if (process.IsNone()) continue;
        JobPlace& place = places_[process.row()];
        place.backend = "nccl";
        if (communicator.ranks <= largest[process.row()]) continue;
        largest[process.row()] = communicator.ranks;
        place.world_size = static_cast<int32_t>(communicator.ranks);
        if (!told_[process.row()]) place.rank = static_cast<int32_t>(rank);
      }
    }
  }

  // What was said outright stands over what NCCL shows.
  void UseSettings() {
    const std::string_view kineto = store_.Property("kineto.distributedInfo");
    for (size_t row = 0; row < places_.size(); ++row) {
      JobPlace& place = places_[row];
      const ProcessId process = ProcessId::At(row);
      if (!MemberText(kineto, "backend").empty()) place.backend = MemberText(kineto, "backend");
      UseTorch(process, place);
      if (place.rank < 0) continue;
      for (const int32_t size :
           {PositiveNumber(MemberText(kineto, "world_size")), LaunchedWorldSize(process),
            PositiveNumber(store_.Property("torch.distributed_world_size", process))}) {
        if (size > 0) place.world_size = size;
      }
    }
  }

  // Of the launcher that tells this process's rank, else 0.
  int32_t LaunchedWorldSize(ProcessId process) const {
    const std::string rank = std::to_string(places_[process.row()].rank);
    for (const format::Launcher& launcher : format::kLaunchers) {
      const std::string prefix = "environment.";
      if (store_.Property(prefix + launcher.rank, process) != rank) continue;
      const auto size = PositiveNumber(store_.Property(prefix + launcher.world_size, process));
      if (size > 0) return size;
    }
    return 0;
  }

  // As torch.distributed said it when the program was running.
  void UseTorch(ProcessId process, JobPlace& place) {
    const std::string_view backend = store_.Property("torch.distributed_backend", process);
    if (!backend.empty() && backend != "undefined") place.backend = backend;
    const std::string_view rank = store_.Property("torch.distributed_rank", process);
    const bool is_number = !rank.empty() && rank.find_first_not_of("0123456789") == rank.npos;
    if (!is_number || told_[process.row()]) return;  // -1: not in the group
    place.rank = PositiveNumber(rank);
  }

  // PyTorch records each call of a process group as an operator "gloo:all_reduce".
  void NameOperators() {
    std::vector<std::string_view> backend_of(store_.strings.size());
    for (size_t row = 0; row < backend_of.size(); ++row) {
      const std::string_view text = store_.Text(StringId::At(row));
      for (const std::string_view backend : {"gloo", "mpi", "nccl", "ucc"}) {
        if (text.size() > backend.size() && text.starts_with(backend) &&
            text[backend.size()] == ':') {
          backend_of[row] = backend;
        }
      }
    }
    const OperatorCallsTable& calls = store_.operator_calls;
    for (size_t row = 0; row < calls.size(); ++row) {
      if (calls.name[row].IsNone() || backend_of[calls.name[row].row()].empty()) continue;
      const ProcessId process = store_.ProcessOf(calls.thread[row]);
      if (process.IsNone() || !places_[process.row()].backend.empty()) continue;
      places_[process.row()].backend = backend_of[calls.name[row].row()];
    }
  }

  void CountRanks() {
    std::set<int32_t> ranks;
    for (const JobPlace& place : places_) {
      if (place.rank >= 0) ranks.insert(place.rank);
    }
    const auto count = static_cast<int32_t>(ranks.size());
    if (count < 2 || *ranks.rbegin() != count - 1) return;
    for (JobPlace& place : places_) {
      if (place.rank >= 0 && place.world_size == 0) place.world_size = count;
    }
  }

  const Store& store_;
  const NcclCalls& nccl_;
  std::vector<JobPlace> places_;
  std::vector<bool> told_;  // the rank, not by NCCL
};

}  // namespace

std::vector<JobPlace> FindJobPlaces(const Store& store, const NcclCalls& nccl) {
  return Places(store, nccl).Find();
}

}  // namespace batchlight
