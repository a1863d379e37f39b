// The scripts that shells read: each asks `batchlight complete` what may come next.
#pragma once

namespace batchlight::cli {

extern const char kBashCompletion[];
extern const char kZshCompletion[];
extern const char kFishCompletion[];

}  // namespace batchlight::cli
