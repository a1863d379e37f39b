// csv, tsv, json, HTML, Markdown.
#include "base/json_text.h"
#include "report/csv.h"
#include "report/table_writers.h"

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

void AppendTsvValue(std::string_view text, bool escape, std::string& tsv) {
  for (const char c : text) {
    if (c == '\t') {
      tsv += escape ? "\\t" : " ";
    } else if (c == '\n' || c == '\r') {
      tsv += escape ? (c == '\n' ? "\\n" : "\\r") : " ";
    } else {
      tsv += c;
    }
  }
}

void AppendMarkdownValue(std::string_view text, std::string& markdown) {
  for (const char c : text) {
    if (c == '|' || c == '\\' || c == '<' || c == '*' || c == '`' || c == '_') markdown += '\\';
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
      case '"':
        html += "&quot;";
        break;
      default:
        html += c;
    }
  }
}

void WriteCsv(TableOutput& output) {
  std::string& out = output.buffer();
  const size_t columns = output.columns().size();
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
        AppendCsvField(text, *value);
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
  const bool escape = output.format().escape_tabs;
  if (output.format().header) {
    for (size_t c = 0; c < columns; ++c) {
      if (c > 0) out += '\t';
      AppendTsvValue(output.Heading(c), escape, out);
    }
    out += '\n';
  }
  output.EachRow([&](size_t /*row*/, const std::vector<Cell>& cells, std::string& text) {
    for (size_t c = 0; c < columns; ++c) {
      if (c > 0) text += '\t';
      AppendTsvValue(Plain(output, c, cells[c]), escape, text);
    }
    text += '\n';
  });
}

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
      text += '"';
      const std::string value = Plain(output, c, cells[c]);
      if (as_nsys) {
        text += value;  // nsys does not escape: a quote in a name breaks its JSON
      } else {
        AppendJsonEscaped(value, text);
      }
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
    if (!format.css.empty()) {
      out += "  <link rel=\"stylesheet\" href=\"";
      AppendHtmlEscaped(format.css, out);
      out += "\">\n";
    }
    out += "  <title>";
    AppendHtmlEscaped(format.title.empty() ? "Nsight Systems Stats Output" : format.title, out);
    out += "</title>\n</head>\n<body>\n<h1>";
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
