// Pairs begins with ends on one thread: the open calls of one table (and, for NVTX, one domain).
//
// A thread's stream is decoded in pieces, in parallel. A piece knows nothing of the calls that were
// open when it began, so an end without a begin is kept as an orphan, and depth and parent count
// from the piece's start; StitchNesting (stitch.h) joins the pieces.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "store/ids.h"

namespace batchlight {

// Stands for the time of a cut: the thread's last event before this piece.
inline constexpr int64_t kAtLastEvent = INT64_MIN;

// A depth as the tables keep it.
inline uint16_t ShortDepth(uint32_t depth) {
  return static_cast<uint16_t>(std::min<uint32_t>(depth, UINT16_MAX));
}

struct OrphanEnd {
  uint32_t row;  // number of rows in the table when the end came
  int64_t end_ns;
};

// Something that belongs to a call that was open when the piece began: which one is known once
// `ends_before` of the orphan ends are taken away.
struct OrphanNote {
  size_t ends_before;
  uint32_t note;  // a row of the fragment, of a table that the reader of notes knows
};

// What one piece of a thread leaves open, for one table and domain. Rows are the fragment's.
struct NestingPiece {
  ThreadId thread;
  NvtxDomainId domain;  // None for the default domain and for other tables
  uint32_t first_row = 0;
  uint32_t end_row = 0;
  std::vector<OrphanEnd> orphan_ends;  // before the cut, if there is one
  std::vector<OrphanNote> notes;       // likewise, in order
  std::vector<uint32_t> open;          // outermost first
  // Events were lost (or not collected) inside the piece: calls open at that point end at cut_ns,
  // and rows from cut_row on already have their true depth and parent.
  bool is_cut = false;
  uint32_t cut_row = 0;
  int64_t cut_ns = 0;
};

class Nesting {
 public:
  bool active() const { return active_; }

  // Must be called before the first use in a piece. `first_row`: rows of the table so far.
  void Begin(ThreadId thread, NvtxDomainId domain, uint32_t first_row) {
    piece_ = {.thread = thread, .domain = domain, .first_row = first_row};
    unbalanced_ends_ = 0;
    active_ = true;
  }

  uint32_t depth() const { return static_cast<uint32_t>(piece_.open.size()); }
  uint32_t parent() const { return piece_.open.empty() ? kNoRow : piece_.open.back(); }
  void Push(uint32_t row) { piece_.open.push_back(row); }

  // The row that ends now, or kNoRow if its begin is not in this piece. `rows`: the table's row
  // count.
  uint32_t Pop(int64_t end_ns, uint32_t rows) {
    if (piece_.open.empty()) {
      if (piece_.is_cut) {
        ++unbalanced_ends_;
      } else {
        piece_.orphan_ends.push_back({rows, end_ns});
      }
      return kNoRow;
    }
    const uint32_t row = piece_.open.back();
    piece_.open.pop_back();
    return row;
  }

  // Of the innermost open call, which is not in this piece.
  void Note(uint32_t note) {
    if (!piece_.is_cut) piece_.notes.push_back({piece_.orphan_ends.size(), note});
  }

  // Events are missing from here on. Returns the rows that were open; the caller ends them.
  std::vector<uint32_t> Cut(int64_t cut_ns, uint32_t rows) {
    if (!piece_.is_cut) {
      piece_.is_cut = true;
      piece_.cut_row = rows;
      piece_.cut_ns = cut_ns;
    }
    return std::exchange(piece_.open, {});
  }

  // The end of the piece.
  NestingPiece Finish(uint32_t rows) {
    active_ = false;
    piece_.end_row = rows;
    return std::move(piece_);
  }
  uint64_t unbalanced_ends() const { return unbalanced_ends_; }

 private:
  NestingPiece piece_;
  uint64_t unbalanced_ends_ = 0;
  bool active_ = false;
};

}  // namespace batchlight
