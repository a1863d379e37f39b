#include "ingest/recording/stitch.h"

#include <algorithm>

namespace batchlight {
namespace {

class Stitcher {
 public:
  explicit Stitcher(StitchPatches& patches) : patches_(patches) {}

  void AddFragment(size_t number, const Fragment& fragment, std::span<const NestingPiece> pieces,
                   uint32_t base, std::span<const NvtxDomainId> domains) {
    fragment_ = number;
    base_ = base;
    for (size_t begin = 0; begin < pieces.size();) {
      const ThreadId thread = pieces[begin].thread;
      if (thread != thread_) Flush(thread);
      seen_.clear();
      size_t end = begin;
      for (; end < pieces.size() && pieces[end].thread == thread; ++end) {
        const NestingPiece& piece = pieces[end];
        AddPiece(piece, piece.domain.IsNone() ? piece.domain : domains[piece.domain.row()]);
      }
      for (const ThreadCut& cut : fragment.cuts) {
        if (cut.thread == thread) CutUnseen(cut.at_ns);
      }
      for (const ThreadSpan& span : fragment.spans) {
        if (span.thread == thread) last_ns_ = span.last_ns;
      }
      begin = end;
    }
  }

  // The thread ended: what is still open stays open.
  void Flush(ThreadId next) {
    for (const auto& [domain, open] : carried_) {
      if (!open.empty()) patches_.open_at_end[thread_] += open.size();
    }
    carried_.clear();
    thread_ = next;
  }

 private:
  void AddPiece(const NestingPiece& piece, NvtxDomainId domain) {
    std::vector<uint32_t>& open = carried_[domain];
    seen_.push_back(domain);
    uint32_t row = piece.first_row;
    auto note = piece.notes.begin();
    const auto add_notes = [&](size_t ends) {
      for (; note != piece.notes.end() && note->ends_before == ends; ++note) {
        if (!open.empty()) patches_.notes.push_back({open.back(), fragment_, note->note});
      }
    };
    size_t ends = 0;
    for (const OrphanEnd& end : piece.orphan_ends) {
      add_notes(ends++);
      AddSegment(row, end.row, domain, open);
      row = end.row;
      if (open.empty()) {
        ++patches_.unbalanced_ends[thread_];
      } else {
        patches_.ends.push_back({open.back(), thread_, end.end_ns});
        open.pop_back();
      }
    }
    add_notes(ends);
    AddSegment(row, piece.is_cut ? piece.cut_row : piece.end_row, domain, open);
    if (piece.is_cut) CutOpen(open, piece.cut_ns);
    for (const uint32_t opened : piece.open) open.push_back(base_ + opened);
  }

  void AddSegment(uint32_t begin, uint32_t end, NvtxDomainId domain,
                  const std::vector<uint32_t>& open) {
    if (open.empty() || begin >= end) return;
    patches_.segments.push_back(
        {base_ + begin, base_ + end, domain, static_cast<uint32_t>(open.size()), open.back()});
  }

  void CutOpen(std::vector<uint32_t>& open, int64_t at_ns) {
    if (at_ns == kAtLastEvent) at_ns = last_ns_;
    for (const uint32_t row : open) patches_.ends.push_back({row, thread_, at_ns});
    if (!open.empty()) patches_.open_at_end[thread_] += open.size();
    open.clear();
  }

  // The piece could not cut domains that have no events in the fragment, so they are cut here.
  void CutUnseen(int64_t at_ns) {
    for (auto& [domain, open] : carried_) {
      if (std::find(seen_.begin(), seen_.end(), domain) == seen_.end()) CutOpen(open, at_ns);
    }
  }

  StitchPatches& patches_;
  ThreadId thread_;
  int64_t last_ns_ = 0;  // of the thread's earlier pieces
  size_t fragment_ = 0;
  uint32_t base_ = 0;
  std::map<NvtxDomainId, std::vector<uint32_t>> carried_;  // joined rows, outermost first
  std::vector<NvtxDomainId> seen_;
};

}  // namespace

StitchPatches StitchNesting(std::span<const Fragment> fragments, NestedTable table,
                            std::span<const uint32_t> base_rows,
                            std::span<const std::vector<NvtxDomainId>> domains) {
  StitchPatches patches;
  Stitcher stitcher(patches);
  for (size_t i = 0; i < fragments.size(); ++i) {
    stitcher.AddFragment(i, fragments[i], fragments[i].nesting[static_cast<size_t>(table)],
                         base_rows[i], domains[i]);
  }
  stitcher.Flush(ThreadId::None());
  return patches;
}

}  // namespace batchlight
