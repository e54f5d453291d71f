#include "engine/rocks/store/fragment_merge.h"

#include <string_view>
#include <utility>
#include <vector>

#include "base/varint.h"
#include "cellblock/fragment.h"
#include "engine/rocks/store/key.h"

namespace sonde {
namespace {

// No fragment begins like these (kFragmentFormat).
constexpr std::string_view kLongEntry{"\0", 1};  // stands for one
constexpr std::string_view kApart{"\0\1", 2};    // then each fragment: its length and bytes
constexpr size_t kApartMin = 2;                  // one goes without

// A merge is not told whether a read or a compaction asks.
thread_local bool fragments_apart = false;

class FragmentMerge final : public rocksdb::MergeOperator {
 public:
  FragmentMerge(const ShapeDictionary* shapes, size_t combined_bytes_max)
      : shapes_(shapes), combined_bytes_max_(combined_bytes_max) {}
  const char* Name() const override { return "sonde.fragment.1"; }

  // All there is of a key in its head: older cells of it may be in the other head and in pages, so that
  // deletes are kept.
  bool FullMergeV2(const MergeOperationInput& in, MergeOperationOutput* out) const override {
    if (in.existing_value == nullptr && in.operand_list.size() == 1) {
      out->existing_operand = in.operand_list[0];
      return true;
    }
    std::vector<std::string_view> fragments;
    fragments.reserve(in.operand_list.size() + 1);
    if (in.existing_value != nullptr) fragments.push_back(in.existing_value->ToStringView());
    for (const rocksdb::Slice& operand : in.operand_list) fragments.push_back(operand.ToStringView());
    out->new_value.clear();
    if (IsLong(fragments)) {
      out->new_value = kLongEntry;
      out->op_failure_scope = OpFailureScope::kMustMerge;  // compactions go on with what they have
      return fragments_apart;
    }
    if (fragments_apart) {
      out->new_value = kApart;
      for (const std::string_view fragment : fragments) PutBytes(&out->new_value, fragment);
      return true;
    }
    return Join(in.key, fragments, &out->new_value);
  }

  bool PartialMergeMulti(const rocksdb::Slice& key, const std::deque<rocksdb::Slice>& operands,
                         std::string* new_value, rocksdb::Logger*) const override {
    std::vector<std::string_view> fragments;
    fragments.reserve(operands.size());
    for (const rocksdb::Slice& operand : operands) fragments.push_back(operand.ToStringView());
    new_value->clear();
    return !IsLong(fragments) && Join(key, fragments, new_value);
  }

 private:
  bool IsLong(const std::vector<std::string_view>& fragments) const {
    if (fragments.size() > kFragmentsApartMax) return false;
    size_t bytes = 0;
    for (const std::string_view fragment : fragments) bytes += fragment.size();
    return bytes > combined_bytes_max_ && bytes / fragments.size() >= combined_bytes_max_ / kCombinedApartMin;
  }
  bool Join(const rocksdb::Slice& key, const std::vector<std::string_view>& fragments,
            std::string* out) const {
    const TableShapes shapes(shapes_, TableOfKey(key.ToStringView()));
    return Combine(fragments, shapes, {}, out).ok();
  }

  const ShapeDictionary* const shapes_;
  const size_t combined_bytes_max_;
};

class FragmentFilter final : public rocksdb::CompactionFilter {
 public:
  explicit FragmentFilter(IsDropped is_dropped) : is_dropped_(std::move(is_dropped)) {}
  const char* Name() const override { return "sonde.fragment.filter.1"; }

  Decision FilterV2(int, const rocksdb::Slice& key, ValueType, const rocksdb::Slice&, std::string*,
                    std::string*) const override {
    ParsedKey parsed;
    if (!ParseKey(key.ToStringView(), &parsed)) return Decision::kKeep;
    return is_dropped_(parsed.table, parsed.family) ? Decision::kRemove : Decision::kKeep;
  }

 private:
  const IsDropped is_dropped_;
};

}  // namespace

FragmentsApart::FragmentsApart() : before_(std::exchange(fragments_apart, true)) {}

FragmentsApart::~FragmentsApart() { fragments_apart = before_; }

bool IsLongEntry(std::string_view value) { return value == kLongEntry; }

bool AppendFragments(std::string_view value, std::vector<std::string_view>* fragments) {
  if (!value.starts_with(kApart)) {
    fragments->push_back(value);
    return true;
  }
  value.remove_prefix(kApart.size());
  size_t count = 0;
  for (; !value.empty(); ++count) {
    if (!GetBytes(&value, &fragments->emplace_back())) return false;
  }
  return count >= kApartMin;
}

std::shared_ptr<rocksdb::MergeOperator> MakeFragmentMerge(const ShapeDictionary* shapes,
                                                          size_t combined_bytes_max) {
  return std::make_shared<FragmentMerge>(shapes, combined_bytes_max);
}

std::unique_ptr<rocksdb::CompactionFilter> MakeFragmentFilter(IsDropped is_dropped) {
  return std::make_unique<FragmentFilter>(std::move(is_dropped));
}

}  // namespace sonde
