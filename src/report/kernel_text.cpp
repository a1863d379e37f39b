#include "report/kernel_text.h"

#include <cctype>

namespace batchlight {
namespace {

constexpr std::string_view kAnonymous = "(anonymous namespace)::";

bool IsNameCharacter(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// "(unsigned long)3" in a template argument: the length of the cast before a number.
size_t CastLength(std::string_view text) {
  if (text.empty() || text[0] != '(') return 0;
  size_t end = 1;
  while (end < text.size() && (IsNameCharacter(text[end]) || text[end] == ' ')) ++end;
  const bool number =
      end + 1 < text.size() && text[end] == ')' &&
      (std::isdigit(static_cast<unsigned char>(text[end + 1])) || text[end + 1] == '-');
  return number ? end + 1 : 0;
}

// Where the parameter list starts: the first '(' outside of <...>.
size_t ParametersOf(std::string_view name) {
  int depth = 0;
  for (size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '<') ++depth;
    if (name[i] == '>') --depth;
    if (name[i] != '(' || depth > 0) continue;
    if (!name.substr(i).starts_with(kAnonymous)) return i;
    i += kAnonymous.size() - 1;
  }
  return name.size();
}

}  // namespace

std::string PlainKernelName(std::string_view demangled) {
  std::string_view name = demangled.substr(0, ParametersOf(demangled));
  if (name.starts_with("void ")) name.remove_prefix(5);
  std::string plain;
  size_t word = 0;  // in `plain`: start of the qualified name that is being read
  for (size_t i = 0; i < name.size();) {
    if (name.substr(i).starts_with(kAnonymous)) {
      i += kAnonymous.size();
    } else if (const size_t cast = CastLength(name.substr(i)); cast > 0) {
      i += cast;
    } else if (name.substr(i).starts_with("::")) {
      plain.resize(word);
      i += 2;
    } else {
      if (!IsNameCharacter(name[i])) word = plain.size() + 1;
      plain += name[i++];
    }
  }
  return plain;
}

}  // namespace batchlight
