// Values of reasons.feature that readers treat in a way of their own.
#pragma once

#include <string_view>

namespace batchlight {

inline constexpr std::string_view kImportFeature = "import";  // a file was not read as it stands
inline constexpr std::string_view kInputFeature = "input";    // a file is cut or incomplete
// How several files became one job: which was left out, whose rank was guessed. Nothing is missing.
inline constexpr std::string_view kJobFeature = "job";
// Its run goes on, or nobody made a recording of what it left.
inline constexpr std::string_view kUnsealedFeature = "unsealed";
// The tool was killed while the program ran: what it looks at from outside is missing from then on.
inline constexpr std::string_view kToolFeature = "batchlight";
// What a foreign file holds and nothing here shows: a footnote.
inline constexpr std::string_view kUnreadFeature = "unread";

// Those that people must know of first, whatever they ask.
constexpr bool IsReadingFeature(std::string_view feature) {
  return feature == kImportFeature || feature == kInputFeature || feature == kJobFeature ||
         feature == kUnsealedFeature;
}

}  // namespace batchlight
