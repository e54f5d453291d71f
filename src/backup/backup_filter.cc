#include "backup/backup_filter.h"

#include <fmt/format.h>

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "base/bytes.h"

namespace sonde {
namespace {

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool EndsWord(char c) { return IsBlank(c) || c == '(' || c == ')'; }
bool IsFieldByte(char c) { return absl::ascii_isalnum(c) || c == '_' || c == '.'; }

// The id in the name of a backup.
std::string_view LastSegment(std::string_view name) { return name.substr(name.rfind('/') + 1); }

}  // namespace

class BackupFilterParser {
 public:
  explicit BackupFilterParser(std::string_view text) : text_(text) {}

  absl::StatusOr<BackupFilter> Parse() {
    SkipBlanks();
    if (at_ == text_.size()) return BackupFilter();
    if (absl::StatusOr<size_t> whole = ParseAny(0); !whole.ok()) return whole.status();
    if (at_ < text_.size()) return Expected("AND, OR or the end");
    return std::move(filter_);
  }

 private:
  using Node = BackupFilter::Node;
  using Operator = BackupFilter::Operator;

  absl::StatusOr<size_t> ParseAny(int depth) {
    Node any{.kind = Node::Kind::kAny};
    do {
      const absl::StatusOr<size_t> all = ParseAll(depth);
      if (!all.ok()) return all;
      any.children.push_back(*all);
    } while (TakeWord("OR"));
    return Add(std::move(any));
  }

  absl::StatusOr<size_t> ParseAll(int depth) {
    Node all{.kind = Node::Kind::kAll};
    do {
      const absl::StatusOr<size_t> one = ParseOne(depth);
      if (!one.ok()) return one;
      all.children.push_back(*one);
    } while (TakeWord("AND") || BeginsOne());
    return Add(std::move(all));
  }

  absl::StatusOr<size_t> ParseOne(int depth) {
    const bool is_not = TakeWord("NOT") || TakeByte('-');
    absl::StatusOr<size_t> inner = TakeByte('(') ? ParseGroup(depth) : ParseTerm();
    if (!inner.ok() || !is_not) return inner;
    return Add({.kind = Node::Kind::kNot, .children = {*inner}});
  }

  // Behind an opening parenthesis.
  absl::StatusOr<size_t> ParseGroup(int depth) {
    if (depth == kBackupFilterDepthMax) {
      return Wrong(fmt::format("more than {} parentheses within each other", kBackupFilterDepthMax));
    }
    absl::StatusOr<size_t> inner = ParseAny(depth + 1);
    if (inner.ok() && !TakeByte(')')) return Expected("')'");
    return inner;
  }

  absl::StatusOr<size_t> ParseTerm() {
    SkipBlanks();
    const size_t field_at = at_;
    while (at_ < text_.size() && IsFieldByte(text_[at_])) ++at_;
    const std::string_view name = text_.substr(field_at, at_ - field_at);
    const std::optional<BackupField> field = FindBackupField(name);
    if (!field.has_value()) {
      at_ = field_at;
      return Expected(fmt::format("a field ({})", kBackupFieldNames));
    }
    const std::optional<Operator> op = TakeOperator();
    if (!op.has_value()) return Expected("one of < > <= >= != = :");
    SkipBlanks();
    const size_t value_at = at_;
    bool is_quoted = false;
    absl::StatusOr<std::string> text = TakeValue(&is_quoted);
    if (!text.ok()) return text.status();
    Node term{.kind = Node::Kind::kTerm, .field = *field, .op = *op};
    if (is_quoted && *op == Operator::kContains) term.op = Operator::kEqual;
    absl::StatusOr<BackupValue> value = ToValue(*field, *text, value_at);
    if (!value.ok()) return value.status();
    term.value = *std::move(value);
    return Add(std::move(term));
  }

  absl::StatusOr<BackupValue> ToValue(BackupField field, const std::string& text, size_t at) {
    switch (field) {
      case BackupField::kName:
      case BackupField::kSourceTable:
        return BackupValue(absl::AsciiStrToLower(text));
      case BackupField::kState: {
        for (const BackupState state : {BackupState::kCreating, BackupState::kReady}) {
          if (NameOfState(state) == absl::AsciiStrToUpper(text))
            return BackupValue(absl::AsciiStrToLower(text));
        }
        at_ = at;
        return Expected("CREATING or READY");
      }
      case BackupField::kStartTime:
      case BackupField::kEndTime:
      case BackupField::kExpireTime: {
        absl::Time time;
        if (absl::ParseTime(absl::RFC3339_full, absl::AsciiStrToUpper(text), &time, nullptr))
          return BackupValue(time);
        at_ = at;
        return Expected("a time as 2026-11-25T08:00:00Z");
      }
      case BackupField::kSizeBytes: {
        int64_t bytes = 0;
        if (absl::SimpleAtoi(text, &bytes)) return BackupValue(bytes);
        at_ = at;
        return Expected("a number of bytes");
      }
    }
    return Expected("a value");
  }

  std::optional<Operator> TakeOperator() {
    SkipBlanks();
    static constexpr std::pair<std::string_view, Operator> kOperators[] = {
        {"<=", Operator::kLessEqual}, {">=", Operator::kGreaterEqual}, {"!=", Operator::kNotEqual},
        {"<", Operator::kLess},       {">", Operator::kGreater},       {"=", Operator::kEqual},
        {":", Operator::kContains}};
    for (const auto& [text, op] : kOperators) {
      if (text_.substr(at_, text.size()) != text) continue;
      at_ += text.size();
      return op;
    }
    return std::nullopt;
  }

  absl::StatusOr<std::string> TakeValue(bool* is_quoted) {
    *is_quoted = at_ < text_.size() && text_[at_] == '"';
    if (*is_quoted) return TakeQuoted();
    const size_t begin = at_;
    while (at_ < text_.size() && !EndsWord(text_[at_])) ++at_;
    if (at_ == begin) return Expected("a value");
    return std::string(text_.substr(begin, at_ - begin));
  }

  absl::StatusOr<std::string> TakeQuoted() {
    const size_t begin = at_;
    std::string value;
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] == '"') {
        ++at_;
        return value;
      }
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      value += text_[at_];
    }
    at_ = begin;
    return Wrong("a text that begins with a quotation mark ends with none");
  }

  void SkipBlanks() {
    while (at_ < text_.size() && IsBlank(text_[at_])) ++at_;
  }
  bool TakeByte(char byte) {
    SkipBlanks();
    if (at_ == text_.size() || text_[at_] != byte) return false;
    ++at_;
    return true;
  }
  // A word ends before a blank, a parenthesis, or the end.
  bool TakeWord(std::string_view word) {
    SkipBlanks();
    if (text_.substr(at_, word.size()) != word) return false;
    const size_t end = at_ + word.size();
    if (end < text_.size() && !EndsWord(text_[end])) return false;
    at_ = end;
    return true;
  }
  // Whether another part of a conjunction begins here, without AND.
  bool BeginsOne() {
    SkipBlanks();
    if (at_ == text_.size() || text_[at_] == ')') return false;
    const size_t begin = at_;
    const bool is_or = TakeWord("OR");
    at_ = begin;
    return !is_or;
  }

  // A conjunction or disjunction of one is that one.
  size_t Add(Node node) {
    if ((node.kind == Node::Kind::kAll || node.kind == Node::Kind::kAny) && node.children.size() == 1) {
      return node.children[0];
    }
    filter_.nodes_.push_back(std::move(node));
    return filter_.nodes_.size() - 1;
  }

  absl::Status Wrong(std::string_view what) const {
    return absl::InvalidArgumentError(fmt::format("Error in field 'filter' : at byte {}: {}", at_, what));
  }
  absl::Status Expected(std::string_view what) const {
    if (at_ == text_.size()) return Wrong(fmt::format("expected {}, but the filter ends", what));
    return Wrong(fmt::format("expected {}, but found '{}'", what, Printable(text_.substr(at_), 32)));
  }

  const std::string_view text_;
  size_t at_ = 0;
  BackupFilter filter_;
};

absl::StatusOr<BackupFilter> BackupFilter::Parse(std::string_view text) {
  if (text.size() > kBackupFilterBytesMax) {
    return absl::InvalidArgumentError(
        fmt::format("Error in field 'filter' : must have at most {} bytes, but has {}", kBackupFilterBytesMax,
                    text.size()));
  }
  return BackupFilterParser(text).Parse();
}

bool BackupFilter::Matches(const Backup& backup) const {
  return nodes_.empty() || Matches(nodes_.back(), backup);
}

bool BackupFilter::Matches(const Node& node, const Backup& backup) const {
  switch (node.kind) {
    case Node::Kind::kAll:
      for (const size_t child : node.children) {
        if (!Matches(nodes_[child], backup)) return false;
      }
      return true;
    case Node::Kind::kAny:
      for (const size_t child : node.children) {
        if (Matches(nodes_[child], backup)) return true;
      }
      return false;
    case Node::Kind::kNot:
      return !Matches(nodes_[node.children[0]], backup);
    case Node::Kind::kTerm:
      return MatchesTerm(node, backup);
  }
  return false;
}

bool BackupFilter::MatchesTerm(const Node& term, const Backup& backup) {
  BackupValue value = ValueOf(backup, term.field);
  if (std::holds_alternative<std::monostate>(value)) return term.op == Operator::kNotEqual;
  const bool is_contains = term.op == Operator::kContains;
  bool is_equal = false;
  if (std::string* const text = std::get_if<std::string>(&value)) {
    absl::AsciiStrToLower(text);
    const std::string& asked = std::get<std::string>(term.value);
    if (is_contains) return text->find(asked) != std::string::npos;
    is_equal = *text == asked || (term.field == BackupField::kName && LastSegment(*text) == asked);
  } else {
    is_equal = value == term.value;
  }
  switch (term.op) {
    case Operator::kEqual:
    case Operator::kContains:
      return is_equal;
    case Operator::kNotEqual:
      return !is_equal;
    case Operator::kLess:
      return value < term.value;
    case Operator::kGreater:
      return value > term.value;
    case Operator::kLessEqual:
      return value <= term.value;
    case Operator::kGreaterEqual:
      return value >= term.value;
  }
  return false;
}

}  // namespace sonde
