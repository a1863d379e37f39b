#include "report/page/html_page.h"

#include "report/assets/embedded.h"
#include "report/text/utf8.h"

namespace batchlight {
namespace {

// The policy forbids every load, so that even a recorded name that got past the escaping could
// reach nothing outside of the page.
constexpr std::string_view kHead =
    "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
    "style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; "
    "form-action 'none'\">\n";

// In JSON '<' occurs only inside of strings, where it can be escaped. Without it no end tag and no
// comment can begin.
void AppendJson(std::string& out, std::string_view json) {
  for (size_t at = json.find('<'); at != std::string_view::npos; at = json.find('<')) {
    out += json.substr(0, at);
    out += "\\u003c";
    json.remove_prefix(at + 1);
  }
  out += json;
}

}  // namespace

std::string EscapedText(std::string_view text) {
  std::string out;
  for (const char c : CleanText(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string MakeHtmlPage(std::string_view title, std::string_view json, std::string_view elements,
                         std::string_view without_script) {
  std::string out(kHead);
  out += "<title>" + EscapedText(title) + "</title>\n<style>";
  out += ReportStyle();
  out += "</style>\n</head>\n<body>\n<noscript>";
  out += without_script;
  out += "</noscript>\n<script type=\"application/json\" id=\"data\">";
  AppendJson(out, json);
  out += "</script>\n";
  out += elements;
  out += "<script>";
  out += ReportScript();
  out += "</script>\n</body>\n</html>\n";
  return out;
}

}  // namespace batchlight
