// A record without fields: an end. Written only while collecting: a capture that starts or stops
// inside a call has an end without its begin, or a begin without its end.
#pragma once

#include "inject/buffer/thread_stream.h"
#include "inject/rt/control.h"

namespace batchlight::inject {

template <class R>
void WriteEmpty() {
  if (!Collecting()) return;
  Guard guard;
  ThreadStream* stream = guard ? ThreadStream::Current(guard) : nullptr;
  if (stream != nullptr && stream->Ensure(sizeof(R))) stream->Write(R{});
}

}  // namespace batchlight::inject
