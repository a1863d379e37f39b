#include "analysis/steps/bin_finder.h"

#include <algorithm>

namespace batchlight {
namespace {

// Bins of at most `length` steps, all of them steady or none. False: more than `most`.
bool CutAt(const std::vector<bool>& steady, size_t length, size_t most, StepCut& cut) {
  cut = {};
  size_t size = 0;
  for (size_t step = 0; step < steady.size(); ++step) {
    if (cut.bins.empty() || size == length || cut.bins.back().steady != steady[step]) {
      if (cut.bins.size() == most) return false;
      cut.bins.push_back({static_cast<uint32_t>(step), 0, steady[step]});
      size = 0;
    }
    ++size;
    cut.bin_of_step.push_back(static_cast<uint32_t>(cut.bins.size() - 1));
  }
  return true;
}

// Where steady steps and others take turns too often: spans of two bins, one for either.
StepCut CutInTwo(const std::vector<bool>& steady, size_t most) {
  const size_t spans = most / 2;
  const size_t length = (steady.size() + spans - 1) / spans;
  StepCut cut;
  for (size_t first = 0; first < steady.size(); first += length) {
    uint32_t bin_of[2] = {BinPlace::kNowhere, BinPlace::kNowhere};
    for (size_t step = first; step < std::min(first + length, steady.size()); ++step) {
      uint32_t& bin = bin_of[steady[step]];
      if (bin == BinPlace::kNowhere) {
        bin = static_cast<uint32_t>(cut.bins.size());
        cut.bins.push_back({static_cast<uint32_t>(first), 0, steady[step]});
      }
      cut.bin_of_step.push_back(bin);
    }
  }
  return cut;
}

// Spans of `length` steps in which the ranks do not agree on what is steady: of each one bin for
// the steady steps of any rank and one for the rest. bin_of[steady][step].
struct SharedCut {
  std::vector<StepBin> bins;
  std::vector<uint32_t> bin_of[2];
};
SharedCut CutShared(const std::vector<std::vector<bool>>& ranks, size_t steps, size_t length) {
  SharedCut cut;
  for (const bool steady : {false, true}) cut.bin_of[steady].resize(steps, BinPlace::kNowhere);
  for (size_t first = 0; first < steps; first += length) {
    uint32_t bin_of[2] = {BinPlace::kNowhere, BinPlace::kNowhere};
    for (size_t step = first; step < std::min(first + length, steps); ++step) {
      for (const std::vector<bool>& rank : ranks) {
        if (step >= rank.size()) continue;
        uint32_t& bin = bin_of[rank[step]];
        if (bin == BinPlace::kNowhere) {
          bin = static_cast<uint32_t>(cut.bins.size());
          cut.bins.push_back({static_cast<uint32_t>(first), 0, rank[step]});
        }
        cut.bin_of[rank[step]][step] = bin;
      }
    }
  }
  return cut;
}

// At most `most` bins, which is at least two.
StepCut CutSteps(const std::vector<bool>& steady, size_t most) {
  StepCut cut;
  for (size_t length = 1; length < 2 * steady.size(); length *= 2) {
    if (CutAt(steady, length, most, cut)) return cut;
  }
  return CutInTwo(steady, most);
}

std::vector<bool> SteadySteps(const ProcessSteps& process, size_t size) {
  std::vector<bool> steady(size, process.steady.empty());
  for (const uint32_t row : process.steady) steady[row] = true;
  return steady;
}

}  // namespace

StepCut CutSteps(const ProcessSteps& process, size_t most) {
  return CutSteps(SteadySteps(process, process.steps.size()), most);
}

BinFinder::BinFinder(const Store& store, const StepSet& steps) : store_(store), steps_(steps) {
  size_t most = 0;
  for (const ProcessSteps& process : steps.processes) most = std::max(most, process.steps.size());
  if (most == 0) return;
  CutAllRanks(most);
  place_ = outside();
  CountSteps();
  const size_t ranks = std::min(steps.processes.size(), kMostRanks);
  if (ranks < 2) return;
  for (size_t i = 0; i < ranks; ++i) AddRank(steps.processes[i], kMostRankColumns / ranks);
}

// What counts is up to each rank, so that the bins that count have the steps that count, of all.
void BinFinder::CutAllRanks(size_t most) {
  std::vector<std::vector<bool>> ranks;
  std::vector<bool> steady(most);
  bool agree = true;
  for (const ProcessSteps& process : steps_.processes) {
    ranks.push_back(SteadySteps(process, process.steps.size()));
    for (size_t step = 0; step < ranks.back().size(); ++step) {
      if (ranks.back()[step]) steady[step] = true;
    }
  }
  for (const std::vector<bool>& rank : ranks) {
    agree = agree && std::equal(rank.begin(), rank.end(), steady.begin());
  }
  if (agree) {
    StepCut cut = CutSteps(steady, kMost);
    bins_ = std::move(cut.bins);
    for (std::vector<uint32_t>& of_step : bin_of_step_) of_step = cut.bin_of_step;
    return;
  }
  SharedCut cut = CutShared(ranks, most, 1);
  for (size_t length = 2; cut.bins.size() > kMost; length *= 2) {
    cut = CutShared(ranks, most, length);
  }
  bins_ = std::move(cut.bins);
  for (const bool kind : {false, true}) bin_of_step_[kind] = std::move(cut.bin_of[kind]);
}

void BinFinder::AddRank(const ProcessSteps& process, size_t most) {
  StepCut cut = CutSteps(process, most);
  for (uint32_t& bin : cut.bin_of_step) {
    ++cut.bins[bin].steps;
    bin += static_cast<uint32_t>(rank_columns_);  // from here on a column
  }
  const size_t steady = process.steady.size();
  const double step_ns = steady == 0 ? 0 : double(process.duration.total) / double(steady);
  ranks_.push_back({process.process, process.rank, std::move(cut.bins), rank_columns_, step_ns});
  rank_columns_ += ranks_.back().bins.size();
  column_of_step_.push_back(std::move(cut.bin_of_step));
}

void BinFinder::CountSteps() {
  for (const ProcessSteps& process : steps_.processes) {
    const std::vector<bool>& steady =
        steady_.emplace_back(SteadySteps(process, process.steps.size()));
    for (size_t step = 0; step < steady.size(); ++step) {
      ++bins_[bin_of_step_[steady[step]][step]].steps;
    }
  }
}

void BinFinder::Enter(ThreadId thread) {
  thread_ = thread;
  process_ = thread.IsNone() ? nullptr : steps_.Of(store_.ProcessOf(thread));
  lookup_ = StepLookup(process_);
  row_ = StepLookup::kNone;
  place_ = outside();
}

void BinFinder::SetPlace(size_t row) {
  row_ = row;
  place_ = outside();
  if (row == StepLookup::kNone) return;
  const auto rank = static_cast<size_t>(process_ - steps_.processes.data());
  place_.bin = bin_of_step_[steady_[rank][row]][row];
  if (rank < column_of_step_.size()) place_.rank_column = column_of_step_[rank][row];
}

}  // namespace batchlight
