#pragma once

#include <stddef.h>

#include "counters/sample_stream.h"

namespace batchlight::host {

using counters::FrameHead;
using counters::FrameKind;
using counters::LostFrame;
using counters::MetricFrame;
using counters::SampleFrame;

// Frames to standard output, in large writes.
class FrameWriter {
 public:
  // Begins a frame of so many bytes, which Add() calls then fill.
  void Begin(FrameKind kind, size_t bytes);
  void Add(const void* bytes, size_t count);
  void AddText(const char* text);  // with its NUL
  void Reason(const char* text);
  void Flush();
  bool is_broken() const { return is_broken_; }  // nobody reads

 private:
  char buffer_[64 * 1024];
  size_t used_ = 0;
  bool is_broken_ = false;
};

}  // namespace batchlight::host
