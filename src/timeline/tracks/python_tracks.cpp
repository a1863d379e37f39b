// Which Python functions each thread was in, by samples from outside (store.python_samples).
#include <algorithm>
#include <string>

#include "analysis/lines/source_place.h"
#include "analysis/python/function_counts.h"
#include "timeline/tracks/derived_tracks.h"

namespace batchlight::timeline {
namespace {

// Deeper recursion than this shows its outermost frames.
constexpr size_t kMostDepth = 200;

// One event for as long as looks one after the other find a function at the same depth, in the same
// callers. Two calls with no look in between are one event: samples cannot tell them apart.
class StretchMaker {
 public:
  StretchMaker(Timeline& timeline, DerivedTable& table)
      : timeline_(timeline), store_(timeline.store()), table_(table) {
    NameFrames();
  }

  // `apart_ns`: from one look to the next.
  void Look(PythonStackId stack, int64_t start_ns, int64_t end_ns, int64_t apart_ns) {
    FindNames(stack);
    // Where a look came late nobody stood for the time before it, but nothing was seen to end.
    const bool goes_on = !open_.empty() && start_ns - last_look_ns_ <= apart_ns;
    size_t same = 0;
    while (goes_on && same < open_.size() && same < names_.size() &&
           table_.name[open_[same]] == names_[same]) {
      ++same;
    }
    // What changed between two looks did so in the middle, for all that is known. Records of one
    // thread may overlap by what its clock is off.
    const int64_t before_ns = goes_on ? last_look_ns_ : start_ns;
    const int64_t middle_ns = before_ns + (start_ns + apart_ns - before_ns) / 2;
    const int64_t from_ns = std::clamp(middle_ns, before_ns, std::max(before_ns, end_ns));
    for (size_t ended = same; goes_on && ended < open_.size(); ++ended) {
      table_.end_ns[open_[ended]] = from_ns;
    }
    open_.resize(same);
    for (; same < names_.size(); ++same) {
      open_.push_back(table_.name.size());
      table_.Add(from_ns, end_ns, names_[same]);
    }
    for (const size_t row : open_) table_.end_ns[row] = std::max(table_.end_ns[row], end_ns);
    if (!open_.empty()) last_look_ns_ = table_.end_ns[open_.front()];
  }
  void EndThread() { open_.clear(); }

 private:
  void NameFrames() {
    const PythonFramesTable& frames = store_.python_frames;
    name_of_frame_.reserve(frames.size());
    for (size_t row = 0; row < frames.size(); ++row) {
      const std::string_view file = ShortFile(store_.Text(frames.file[row]));
      name_of_frame_.push_back(timeline_.names().Add(
          PythonLabel(file, frames.first_line[row], store_.Text(frames.function[row]))));
    }
  }

  // Of the stack's functions, the outermost first.
  void FindNames(PythonStackId stack) {
    names_.clear();
    const PythonStacksTable& stacks = store_.python_stacks;
    for (; !stack.IsNone(); stack = stacks.parent[stack.row()]) {
      const PythonFrameId frame = stacks.frame[stack.row()];
      if (!frame.IsNone()) names_.push_back(name_of_frame_[frame.row()]);
    }
    std::reverse(names_.begin(), names_.end());
    if (names_.size() > kMostDepth) names_.resize(kMostDepth);
  }

  Timeline& timeline_;
  const Store& store_;
  DerivedTable& table_;
  std::vector<StringId> name_of_frame_;  // by row of python_frames
  std::vector<StringId> names_;
  std::vector<size_t> open_;  // rows of the table, outermost first
  int64_t last_look_ns_ = 0;  // where any is open
};

}  // namespace

void AddPythonTracks(Timeline& timeline, std::vector<TrackPlan>& plans) {
  const PythonSamplesTable& samples = timeline.store().python_samples;
  if (samples.size() == 0) return;
  DerivedTable& table = timeline.NewDerivedTable();
  table.nests = true;  // recursion
  StretchMaker stretches(timeline, table);
  std::vector<ThreadId> threads;
  for (size_t row = 0; row < samples.size(); ++row) {
    if (threads.empty() || threads.back() != samples.thread[row]) {
      stretches.EndThread();
      threads.push_back(samples.thread[row]);
      table.begins.push_back(static_cast<uint32_t>(table.name.size()));
    }
    const int64_t start_ns = samples.start_ns[row], end_ns = samples.end_ns[row];
    stretches.Look(samples.python_stack[row], start_ns, end_ns,
                   (end_ns - start_ns) / std::max(1u, samples.samples[row]));
  }
  table.begins.push_back(static_cast<uint32_t>(table.name.size()));
  AddTracksOfThreads(timeline, "python_stretches", "Python function", table, threads,
                     {.kind = TrackKind::kPython, .title = "Python, sampled"}, plans);
}

}  // namespace batchlight::timeline
