#include "identity/proof/flat_json.h"

#include <nlohmann/json.hpp>
#include <set>

namespace sonde {
namespace {

using Json = nlohmann::json;

// nlohmann's reader calls these; false ends the reading.
class FlatJsonReader final : public nlohmann::json_sax<Json> {
 public:
  using Members = std::vector<std::pair<std::string, FlatJsonValue>>;
  explicit FlatJsonReader(Members* members) : members_(members) {}

  std::string_view problem() const { return problem_; }

  bool null() override { return Other(); }
  bool boolean(bool /*value*/) override { return Other(); }
  bool number_float(number_float_t /*value*/, const string_t& /*text*/) override { return Other(); }
  bool binary(binary_t& /*value*/) override { return Other(); }
  bool number_integer(number_integer_t value) override { return Take(value); }
  bool number_unsigned(number_unsigned_t value) override {
    return value > static_cast<uint64_t>(INT64_MAX) ? Other() : Take(static_cast<int64_t>(value));
  }

  bool string(string_t& value) override {
    if (depth() == 1) members_->back().second = std::move(value);
    if (depth() == 2 && list_ != List::kNone) {
      if (list_ == List::kTexts) list_texts_.push_back(std::move(value));
    }
    return true;
  }

  bool start_object(size_t /*elements*/) override {
    if (depth() == 2) NoList();
    names_.emplace_back();
    return DepthIsAllowed();
  }
  bool end_object() override {
    names_.pop_back();
    return true;
  }
  bool key(string_t& name) override {
    if (!names_.back().insert(name).second) return Fail("a member comes twice");
    if (depth() == 1) members_->emplace_back(name, OtherJson{});
    return true;
  }

  bool start_array(size_t /*elements*/) override {
    if (depth() == 0) return Fail("the JSON is no object");
    if (depth() == 1) {
      list_ = List::kTexts;
      list_texts_.clear();
    } else if (depth() == 2) {
      NoList();
    }
    names_.emplace_back();
    return DepthIsAllowed();
  }
  bool end_array() override {
    names_.pop_back();
    if (depth() == 1) {
      if (list_ == List::kTexts) members_->back().second = std::move(list_texts_);
      list_texts_.clear();
      list_ = List::kNone;
    }
    return true;
  }

  bool parse_error(size_t /*position*/, const std::string& /*last_token*/,
                   const Json::exception& /*error*/) override {
    return Fail("the JSON cannot be read");
  }

 private:
  enum class List : uint8_t { kNone, kTexts, kOther };

  size_t depth() const { return names_.size(); }
  bool Fail(std::string_view problem) {
    problem_ = problem;
    return false;
  }
  bool DepthIsAllowed() { return depth() <= kJsonDepthMax || Fail("the JSON is nested too deeply"); }
  void NoList() {
    if (list_ == List::kTexts) list_ = List::kOther;
  }
  // A value outside any object does not come here: the reader of FlatJson asks for { first.
  bool Other() {
    if (depth() == 2) NoList();
    return true;
  }
  bool Take(int64_t number) {
    if (depth() == 1) members_->back().second = number;
    return Other();
  }

  Members* members_;
  std::string_view problem_ = "the JSON cannot be read";
  std::vector<std::set<std::string>> names_;  // of each object that is open; a list has an empty one
  List list_ = List::kNone;                   // the list that is a member's value, while it is read
  std::vector<std::string> list_texts_;
};

}  // namespace

absl::StatusOr<FlatJson> FlatJson::Read(std::string_view text) {
  // Not even a byte order mark, which the reader would pass over.
  if (!text.starts_with('{')) return absl::InvalidArgumentError("the JSON is no object");
  FlatJson result;
  FlatJsonReader reader(&result.members_);
  if (!Json::sax_parse(text.begin(), text.end(), &reader, Json::input_format_t::json, /*strict=*/true)) {
    return absl::InvalidArgumentError(std::string(reader.problem()));
  }
  return result;
}

const FlatJsonValue* FlatJson::Find(std::string_view name) const {
  for (const auto& [known, value] : members_) {
    if (known == name) return &value;
  }
  return nullptr;
}

}  // namespace sonde
