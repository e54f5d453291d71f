// docs/sql.md is what the functions say of themselves, and its examples give what it says.
// SONDE_WRITE_DOCS=1 writes the page anew.

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "sql/exec/local_sql.h"
#include "sql/library/library.h"
#include "sql/library/reference.h"
#include "sql/value/value.h"

namespace sonde::sql {
namespace {

constexpr char kPage[] = SONDE_SOURCE_DIR "/docs/sql.md";

// The first rows of an answer, one a line of values.
class RowsAsText final : public AnswerSink {
 public:
  absl::Status TakeColumns(const std::vector<AnswerColumn>& columns) override {
    columns_ = columns;
    return absl::OkStatus();
  }
  absl::Status TakeRows(const rows::Batch& batch) override {
    for (size_t row = 0; row < batch.rows; ++row) {
      for (size_t i = 0; i < columns_.size(); ++i) {
        if (!text_.empty()) text_ += i == 0 ? "; " : ", ";
        AppendSql(columns_[i].type, DatumAt(batch.columns[i], row), &text_);
      }
    }
    return absl::OkStatus();
  }
  const std::string& text() const { return text_; }

 private:
  std::vector<AnswerColumn> columns_;
  std::string text_;
};

std::string ResultOf(const Function& function, const std::string& example) {
  if (function.is_volatile || example.find("CURRENT_") != std::string::npos) return "";
  const bool is_query =
      example.starts_with("SELECT ") || example.starts_with("WITH ") || example.starts_with("FROM ");
  LocalSql sql(nullptr, "");
  RowsAsText rows;
  const absl::Status status = sql.Ask({.text = is_query ? example : "SELECT " + example}, &rows);
  if (status.ok()) return rows.text();
  // An example may need a table, and some show an error.
  if (example.find("cf[") != std::string::npos || example.find("(cf") != std::string::npos) return "";
  return "error: " + std::string(status.message());
}

TEST(ReferencePage, IsWhatTheFunctionsSay) {
  const std::string page = Reference(ResultOf);
  if (std::getenv("SONDE_WRITE_DOCS") != nullptr) {
    std::ofstream(kPage) << page;
    return;
  }
  std::ifstream file(kPage);
  const std::string written((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  EXPECT_EQ(written, page)
      << "write it anew: SONDE_WRITE_DOCS=1 sonde_sql_exec_test --gtest_filter='ReferencePage.*'";
}

TEST(ReferencePage, NoExampleFailsButThoseThatShowIt) {
  for (const Function& function : AllFunctions()) {
    for (const std::string& example : function.examples) {
      const std::string result = ResultOf(function, example);
      const bool shows_an_error = function.name == "ERROR";
      EXPECT_TRUE(shows_an_error || !result.starts_with("error: ")) << example << "\n" << result;
    }
  }
}

}  // namespace
}  // namespace sonde::sql
