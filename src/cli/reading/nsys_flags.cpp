#include "cli/reading/nsys_flags.h"

namespace batchlight::cli {

void AddNsysFlags(const Command& command, NsysFlags* flags) {
  command
      .Option(
          "-f,--format", &flags->tables.formats,
          "column, table, csv, tsv, json, hdoc, htable, markdown, parquet, arrow or . [:ARG]...")
      .TypeName("FORMAT")
      .OneValueEach();
  command
      .Option("-o,--output", &flags->tables.outputs,
              "- (console), @COMMAND, . (beside the input) or a base name for files")
      .TypeName("FILE")
      .OneValueEach();
  command
      .Option("--timeunit", &flags->time_unit, "nanoseconds, microseconds, milliseconds or seconds")
      .TypeName("UNIT")
      .ShowDefault();
  command
      .Option("--filter-time", &flags->filter.time,
              "Only events that overlap [START]/[END], as in 8s/8050ms; findings about steps are "
              "not filtered")
      .TypeName("START/END");
  command
      .Option("--filter-nvtx", &flags->filter.nvtx,
              "Only events that overlap RANGE[@DOMAIN][/INDEX]; findings about steps are not "
              "filtered")
      .TypeName("RANGE");
  command.Option("--help-formats", &flags->help_formats, "List the formats; NAME for one")
      .TypeName("FORMAT")
      .ValueIsOptional();
  command.Option("--force-overwrite", &flags->overwrite_words, "Replace files that exist")
      .TypeName("true|false")
      .ValueIsOptional();
  command
      .Option("--force-export", &flags->export_words, "No effect: nothing is exported in between")
      .TypeName("true|false")
      .ValueIsOptional();
  command.Option("--sqlite", &flags->sqlite, "Database to read in place of RUN")
      .TypeName("DATABASE");
  command.Switch("-q,--quiet", &flags->tables.quiet, "No notices");
  command.Switch("--nsys-compat", &flags->tables.nsys_compat,
                 "The bytes of nsys also where it is wrong (docs/stats.md)");
}

}  // namespace batchlight::cli
