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
  for (size_t row = 0; row < output.row_count() && !output.failed(); ++row) {
    const std::vector<Cell>& cells = output.Row(row);
    for (size_t c = 0; c < columns; ++c) {
      if (c > 0) out += ',';
      if (const auto* text = std::get_if<std::string>(&cells[c])) {
        AppendCsvField(out, *text);
      } else {
        output.AppendCell(c, cells[c], out);
      }
    }
    out += '\n';
    output.RowDone();
  }
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
  for (size_t row = 0; row < output.row_count() && !output.failed(); ++row) {
    const std::vector<Cell>& cells = output.Row(row);
    for (size_t c = 0; c < columns; ++c) {
      if (c > 0) out += '\t';
      AppendTsvValue(Plain(output, c, cells[c]), escape, out);
    }
    out += '\n';
    output.RowDone();
  }
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
  for (size_t row = 0; row < output.row_count() && !output.failed(); ++row) {
    const std::vector<Cell>& cells = output.Row(row);
    out += row == 0 ? "\n  {\n" : ",\n  {\n";
    for (size_t c = 0; c < keys.size(); ++c) {
      if (c > 0) out += ",\n";
      out += keys[c];
      if (IsNumber(cells[c])) {
        output.AppendCell(c, cells[c], out);
        continue;
      }
      out += '"';
      const std::string text = Plain(output, c, cells[c]);
      if (as_nsys) {
        out += text;  // nsys does not escape: a quote in a name breaks its JSON
      } else {
        AppendJsonEscaped(text, out);
      }
      out += '"';
    }
    out += "\n  }";
    output.RowDone();
  }
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
  for (size_t row = 0; row < output.row_count() && !output.failed(); ++row) {
    const std::vector<Cell>& cells = output.Row(row);
    out += "    <tr>\n";
    for (size_t c = 0; c < cells.size(); ++c) {
      out += "      <td>";
      AppendHtmlEscaped(Plain(output, c, cells[c]), out);
      out += "</td>\n";
    }
    out += "    </tr>\n";
    output.RowDone();
  }
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
  for (size_t row = 0; row < output.row_count() && !output.failed(); ++row) {
    const std::vector<Cell>& cells = output.Row(row);
    out += '|';
    for (size_t c = 0; c < columns; ++c) {
      out += ' ';
      AppendMarkdownValue(Plain(output, c, cells[c]), out);
      out += " |";
    }
    out += '\n';
    output.RowDone();
  }
}

}  // namespace batchlight
