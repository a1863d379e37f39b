// README_snippet.md: the answer in Markdown, ready to paste into a README or a pull request.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/advice/finding.h"
#include "analysis/overview/run_overview.h"
#include "report/text/top_list.h"

namespace batchlight {

struct SnippetPicture {
  std::string file;     // relative to the snippet: "top10.png"
  std::string caption;  // "Top 10 operators"
};

// Holds the first few of `advice`.
std::string MakeSnippet(const RunOverview& overview, const std::vector<Finding>& advice,
                        const std::vector<TopList>& tops,
                        const std::vector<SnippetPicture>& pictures);

// A recorded name as Markdown code that is safe in a table cell: nothing in it acts as markup.
std::string MarkdownCode(std::string_view name);

}  // namespace batchlight
