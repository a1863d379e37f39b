// csv, tsv, json, HTML, Markdown.
#include <algorithm>
#include <charconv>

#include "base/json_text.h"
#include "base/printable_text.h"
#include "report/tables/csv.h"
#include "report/tables/table_writers.h"

namespace batchlight {
namespace {

std::string Plain(const TableOutput& output, size_t column, const Cell& cell) {
  std::string text;
  output.AppendCell(column, cell, text);
  return text;
}

bool IsNumber(const Cell& cell) {
  return std::holds_alternative<int64_t>(cell) || std::holds_alternative<double>(cell);
}

void AppendTsvValue(std::string_view text, const TableFormat& format, std::string& tsv) {
  const bool escape = format.escape_tabs;
  for (const char c : text) {
    if (c == '\t') {
      tsv += escape ? "\\t" : " ";
    } else if ((c == '\n' || c == '\r') && !format.nsys_compat) {
      tsv += escape ? (c == '\n' ? "\\n" : "\\r") : " ";
    } else {
      tsv += c;
    }
  }
}

void AppendMarkdownValue(std::string_view text, std::string& markdown) {
  for (const char c : text) {
    if (c == '|' || c == '\\' || c == '<' || c == '*' || c == '`' || c == '_' ||
        (c == '(' && markdown.ends_with(']'))) {  // [text](link)
      markdown += '\\';
    }
    markdown += c == '\n' || c == '\r' ? ' ' : c;
  }
}

}  // namespace

void AppendHtmlEscaped(std::string_view text, std::string& html) {
  for (const char c : text) {
    switch (c) {
      case '&':
        html += "&amp;";
        break;
      case '<':
        html += "&lt;";
        break;
      case '>':
        html += "&gt;";
        break;
      default:
        html += c;
    }
  }
}

namespace {

// Between double quotes.
void AppendHtmlAttribute(std::string_view text, std::string& html) {
  std::string escaped;
  AppendHtmlEscaped(text, escaped);
  for (const char c : escaped) {
    if (c == '"') {
      html += "&quot;";
    } else {
      html += c;
    }
  }
}

// nsys quotes where there is a comma and leaves quotes and line breaks as they are.
void AppendNsysCsvField(std::string& out, std::string_view text) {
  const bool quoted = text.find(',') != std::string_view::npos;
  if (quoted) out += '"';
  out += text;
  if (quoted) out += '"';
}

}  // namespace

void WriteCsv(TableOutput& output) {
  std::string& out = output.buffer();
  const size_t columns = output.columns().size();
  const auto append_text = output.format().nsys_compat ? AppendNsysCsvField : AppendCsvField;
  if (output.format().header) {
    for (size_t c = 0; c < columns; ++c) {
      if (c > 0) out += ',';
      AppendCsvField(out, output.Heading(c));
    }
    out += '\n';
  }
  output.EachRow([&](size_t /*row*/, const std::vector<Cell>& cells, std::string& text) {
    for (size_t c = 0; c < columns; ++c) {
      if (c > 0) text += ',';
      if (const auto* value = std::get_if<std::string>(&cells[c])) {
        append_text(text, output.format().spreadsheet ? SpreadsheetText(*value) : *value);
      } else {
        output.AppendCell(c, cells[c], text);
      }
    }
    text += '\n';
  });
}

void WriteTsv(TableOutput& output) {
  std::string& out = output.buffer();
  const size_t columns = output.columns().size();
  if (output.format().header) {
    for (size_t c = 0; c < columns; ++c) {
      if (c > 0) out += '\t';
      AppendTsvValue(output.Heading(c), output.format(), out);
    }
    out += '\n';
  }
  output.EachRow([&](size_t /*row*/, const std::vector<Cell>& cells, std::string& text) {
    for (size_t c = 0; c < columns; ++c) {
      if (c > 0) text += '\t';
      const std::string value = Plain(output, c, cells[c]);
      const bool is_name = std::holds_alternative<std::string>(cells[c]);
      AppendTsvValue(is_name && output.format().spreadsheet ? SpreadsheetText(value) : value,
                     output.format(), text);
    }
    text += '\n';
  });
}

namespace {

bool IsJsonToken(std::string_view text) {
  if (text == "true" || text == "false" || text == "null") return true;
  double number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  return !text.empty() && (text[0] == '-' || (text[0] >= '0' && text[0] <= '9')) &&
         parsed.ec == std::errc() && parsed.ptr == text.data() + text.size();
}

// As in nsys, a name that looks like a number or a keyword of JSON becomes one, and line breaks
// stay as they are, which is not valid JSON.
void AppendNsysJson(std::string_view text, std::string& out) {
  if (IsJsonToken(text)) {
    out += text;
    return;
  }
  out += '"';
  for (size_t at = 0; at < text.size();) {
    const size_t line = std::min(text.find('\n', at), text.size());
    AppendJsonEscaped(text.substr(at, line - at), out);
    if (line < text.size()) out += '\n';
    at = line + 1;
  }
  out += '"';
}

}  // namespace

void WriteJson(TableOutput& output) {
  std::string& out = output.buffer();
  const bool as_nsys = output.format().nsys_compat;
  std::vector<std::string> keys;
  for (size_t c = 0; c < output.columns().size(); ++c) {
    std::string key = "    \"";
    AppendJsonEscaped(output.Heading(c), key);
    keys.push_back(key + "\": ");
  }
  out += "[";
  output.EachRow([&](size_t row, const std::vector<Cell>& cells, std::string& text) {
    text += row == 0 ? "\n  {\n" : ",\n  {\n";
    for (size_t c = 0; c < keys.size(); ++c) {
      if (c > 0) text += ",\n";
      text += keys[c];
      if (IsNumber(cells[c])) {
        output.AppendCell(c, cells[c], text);
        continue;
      }
      const std::string value = Plain(output, c, cells[c]);
      if (as_nsys) {
        AppendNsysJson(value, text);
        continue;
      }
      text += '"';
      AppendJsonEscaped(value, text);
      text += '"';
    }
    text += "\n  }";
  });
  out += "\n]\n";
}

void WriteHtml(TableOutput& output) {
  std::string& out = output.buffer();
  const TableFormat& format = output.format();
  const bool document = format.kind == TableKind::kHdoc;
  if (document) {
    out += "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n  <meta charset=\"UTF-8\">\n";
    out += "  <title>";
    AppendHtmlEscaped(format.title.empty() ? "Nsight Systems Stats Output" : format.title, out);
    out += "</title>\n";
    if (!format.css.empty()) {
      out += "  <link rel=\"stylesheet\" href=\"";
      AppendHtmlAttribute(format.css, out);
      out += "\">\n";
    }
    out += "</head>\n<body>\n<h1>";
    AppendHtmlEscaped(output.title() + " (" + output.name() + ")", out);
    out += "</h1>\n";
  }
  out += "<table>\n  <thead>\n    <tr>\n";
  for (size_t c = 0; c < output.columns().size(); ++c) {
    out += "      <th>";
    AppendHtmlEscaped(output.Heading(c), out);
    out += "</th>\n";
  }
  out += "    </tr>\n  </thead>\n  <tbody>\n";
  output.EachRow([&](size_t /*row*/, const std::vector<Cell>& cells, std::string& text) {
    text += "    <tr>\n";
    for (size_t c = 0; c < cells.size(); ++c) {
      text += "      <td>";
      AppendHtmlEscaped(Plain(output, c, cells[c]), text);
      text += "</td>\n";
    }
    text += "    </tr>\n";
  });
  out += "  </tbody>\n</table>\n";
  if (document) out += "</body>\n</html>\n";
}

void WriteMarkdown(TableOutput& output) {
  std::string& out = output.buffer();
  const size_t columns = output.columns().size();
  out += '|';
  for (size_t c = 0; c < columns; ++c) {
    out += ' ';
    AppendMarkdownValue(output.Heading(c), out);
    out += " |";
  }
  out += "\n|";
  for (size_t c = 0; c < columns; ++c) {
    out += output.columns()[c].type == CellType::kText ? " --- |" : " ---: |";
  }
  out += '\n';
  output.EachRow([&](size_t /*row*/, const std::vector<Cell>& cells, std::string& text) {
    text += '|';
    for (size_t c = 0; c < columns; ++c) {
      text += ' ';
      AppendMarkdownValue(Plain(output, c, cells[c]), text);
      text += " |";
    }
    text += '\n';
  });
}

}  // namespace batchlight
