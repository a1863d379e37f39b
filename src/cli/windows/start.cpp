// What the process sets right before main(), so that nothing above base need know Windows: bytes
// are written as they are, text is UTF-8, the console understands escapes, and a path may be given
// with backslashes.
#include <fcntl.h>
#include <io.h>
#include <stdlib.h>
#include <windows.h>

#include <algorithm>
#include <string>

namespace {

void SetDefault(const char* name, const char* value) {
  if (getenv(name) == nullptr) _putenv_s(name, value);
}

// Escapes are understood since Windows 10.
void PrepareConsole() {
  const HANDLE output = GetStdHandle(STD_OUTPUT_HANDLE);
  DWORD mode = 0;
  if (!GetConsoleMode(output, &mode)) return;
  SetConsoleOutputCP(CP_UTF8);
  if (SetConsoleMode(output, mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING))
    SetDefault("TERM", "xterm");
}

// "results\run.batchlight" with slashes, if it or its folder is there; other words, such as
// patterns of names, stay. Of a flag with its value only the value is looked at.
void UseSlashes(char* word) {
  if (*word == '-') {
    word = std::find(word, word + strlen(word), '=');
    if (*word == '\0') return;
    ++word;
  }
  const std::string path = word;
  const size_t last = path.rfind('\\');
  if (last == std::string::npos) return;
  const std::string above = path.substr(0, std::max<size_t>(last, 1));
  for (const std::string& place : {path, above}) {
    if (GetFileAttributesA(place.c_str()) == INVALID_FILE_ATTRIBUTES) continue;
    std::replace(word, word + path.size(), '\\', '/');
    return;
  }
}

void Prepare() {
  _fmode = _O_BINARY;
  for (int fd = 0; fd < 3; ++fd) _setmode(fd, _O_BINARY);
  if (getenv("LC_ALL") == nullptr && getenv("LC_CTYPE") == nullptr) SetDefault("LANG", "C.UTF-8");
  PrepareConsole();
  for (int i = 1; i < __argc; ++i) UseSlashes(__argv[i]);
}

// In the C runtime's list of what it calls at its own start: constructors run only after it has
// copied the words that main() is given.
[[gnu::section(".CRT$XCU"), gnu::used]] void (*const prepare)() = Prepare;

}  // namespace
