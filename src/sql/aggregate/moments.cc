#include "sql/aggregate/moments.h"

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "base/varint.h"
#include "sql/aggregate/aggregator_states.h"

namespace sonde::sql {
namespace {

struct ExactProduct {
  double product = 0;
  double rest = 0;  // product + rest is the product, exactly
};

// Of numbers far from overflow and underflow.
ExactProduct ProductOf(double a, double b) {
  constexpr double kSplitter = 134'217'729;  // 2^27 + 1
  const double a_moved = kSplitter * a;
  const double a_high = a_moved - (a_moved - a);
  const double a_low = a - a_high;
  const double b_moved = kSplitter * b;
  const double b_high = b_moved - (b_moved - b);
  const double b_low = b - b_high;
  const double product = a * b;
  const double rest = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low;
  return {product, rest};
}

// Whether products with a number, and products of these, are exact.
bool IsInExactRange(double value) {
  constexpr double kGreatest = 0x1p240;
  constexpr double kLeast = 0x1p-240;
  const double size = std::abs(value);
  return size <= kGreatest && (size >= kLeast || size == 0);
}

// A long double as its class, exponent and 64 bits.
enum class LongClass : char { kFinite = 0, kMinus = 1, kNan = 2, kInfinity = 3, kMinusInfinity = 4 };

void SaveLong(long double value, std::string* bytes) {
  LongClass of = value < 0 ? LongClass::kMinus : LongClass::kFinite;
  if (std::isnan(value)) of = LongClass::kNan;
  if (std::isinf(value)) of = value < 0 ? LongClass::kMinusInfinity : LongClass::kInfinity;
  bytes->push_back(static_cast<char>(of));
  if (of > LongClass::kMinus) return;
  int exponent = 0;
  const long double fraction = std::frexp(std::abs(value), &exponent);
  PutVarint(bytes, ZigZag(exponent));
  SaveNumber(static_cast<uint64_t>(std::ldexp(fraction, 64)), bytes);
}

bool LoadLong(std::string_view* bytes, long double* value) {
  if (bytes->empty()) return false;
  const auto of = static_cast<LongClass>(bytes->front());
  bytes->remove_prefix(1);
  switch (of) {
    case LongClass::kNan:
      *value = std::numeric_limits<long double>::quiet_NaN();
      return true;
    case LongClass::kInfinity:
      *value = std::numeric_limits<long double>::infinity();
      return true;
    case LongClass::kMinusInfinity:
      *value = -std::numeric_limits<long double>::infinity();
      return true;
    case LongClass::kFinite:
    case LongClass::kMinus:
      break;
    default:
      return false;
  }
  constexpr int64_t kExponentMax = 20'000;
  uint64_t exponent = 0;
  uint64_t fraction = 0;
  if (!GetVarint(bytes, &exponent) || std::abs(UnZigZag(exponent)) > kExponentMax) return false;
  if (!LoadNumber(bytes, &fraction)) return false;
  *value = std::ldexp(static_cast<long double>(fraction), static_cast<int>(UnZigZag(exponent)) - 64);
  if (of == LongClass::kMinus) *value = -*value;
  return true;
}

}  // namespace

template <size_t kVariables>
Moments<kVariables>& Moments<kVariables>::operator=(const Moments& other) {
  if (this == &other) return *this;
  count_ = other.count_;
  sums_ = other.sums_;
  products_ = other.products_;
  rough_ = other.rough_ == nullptr ? nullptr : std::make_unique<Rough>(*other.rough_);
  return *this;
}

template <size_t kVariables>
void Moments<kVariables>::Add(const Row& row) {
  bool is_exact = rough_ == nullptr;
  for (const double value : row) is_exact &= IsInExactRange(value);
  if (!is_exact) return AddToRough(row);
  ++count_;
  for (size_t x = 0; x < kVariables; ++x) {
    sums_[x].Add(row[x]);
    for (size_t y = x; y < kVariables; ++y) {
      const ExactProduct product = ProductOf(row[x], row[y]);
      products_[Place(x, y)].products.Add(product.product);
      products_[Place(x, y)].rests.Add(product.rest);
    }
  }
}

template <size_t kVariables>
void Moments<kVariables>::AddToRough(const Row& row) {
  MakeRough();
  ++count_;
  std::array<long double, kVariables> before;
  for (size_t x = 0; x < kVariables; ++x) {
    before[x] = row[x] - rough_->means[x];
    rough_->means[x] += before[x] / static_cast<long double>(count_);
  }
  for (size_t x = 0; x < kVariables; ++x) {
    for (size_t y = x; y < kVariables; ++y) {
      rough_->deviations[Place(x, y)] += before[x] * (row[y] - rough_->means[y]);
    }
  }
}

template <size_t kVariables>
void Moments<kVariables>::MakeRough() {
  if (rough_ != nullptr) return;
  auto rough = std::make_unique<Rough>();
  for (size_t x = 0; count_ > 0 && x < kVariables; ++x) {
    rough->means[x] = sums_[x].LongTotal() / static_cast<long double>(count_);
    for (size_t y = x; y < kVariables; ++y) rough->deviations[Place(x, y)] = ExactDeviations(x, y);
  }
  rough_ = std::move(rough);
  sums_ = {};
  products_ = {};
}

template <size_t kVariables>
long double Moments<kVariables>::ExactDeviations(size_t x, size_t y) const {
  // Count times the sum of x * y, less the sum of x times the sum of y: exactly, as all of these are sums of doubles.
  std::vector<double> products;
  std::vector<double> of_x;
  std::vector<double> of_y;
  products_[Place(x, y)].products.AppendParts(&products);
  products_[Place(x, y)].rests.AppendParts(&products);
  sums_[x].AppendParts(&of_x);
  sums_[y].AppendParts(&of_y);
  DoubleSum deviations;
  const auto add_product = [&deviations](double a, double b) {
    const ExactProduct product = ProductOf(a, b);
    deviations.Add(product.product);
    deviations.Add(product.rest);
  };
  for (const double part : products) add_product(static_cast<double>(count_), part);
  for (const double part_x : of_x) {
    for (const double part_y : of_y) add_product(-part_x, part_y);
  }
  return deviations.LongTotal() / static_cast<long double>(count_);
}

template <size_t kVariables>
long double Moments<kVariables>::Deviations(size_t x, size_t y) const {
  return rough_ == nullptr ? ExactDeviations(x, y) : rough_->deviations[Place(x, y)];
}

template <size_t kVariables>
absl::Status Moments<kVariables>::Merge(const Moments& other) {
  if (other.count_ == 0) return absl::OkStatus();
  if (count_ == 0) {
    *this = other;
    return absl::OkStatus();
  }
  if (rough_ == nullptr && other.rough_ == nullptr) {
    count_ += other.count_;
    for (size_t x = 0; x < kVariables; ++x) sums_[x].Add(other.sums_[x]);
    for (size_t i = 0; i < kProducts; ++i) {
      products_[i].products.Add(other.products_[i].products);
      products_[i].rests.Add(other.products_[i].rests);
    }
    return absl::OkStatus();
  }
  Moments added = other;
  added.MakeRough();
  MakeRough();
  const auto count = static_cast<long double>(count_);
  const auto added_count = static_cast<long double>(added.count_);
  const long double all = count + added_count;
  std::array<long double, kVariables> apart;
  for (size_t x = 0; x < kVariables; ++x) apart[x] = added.rough_->means[x] - rough_->means[x];
  for (size_t x = 0; x < kVariables; ++x) {
    for (size_t y = x; y < kVariables; ++y) {
      rough_->deviations[Place(x, y)] +=
          added.rough_->deviations[Place(x, y)] + apart[x] * apart[y] * (count * added_count / all);
    }
    rough_->means[x] += apart[x] * (added_count / all);
  }
  count_ += added.count_;
  return absl::OkStatus();
}

template <size_t kVariables>
size_t Moments<kVariables>::HeldBytes() const {
  size_t held = rough_ == nullptr ? 0 : sizeof(Rough);
  for (const DoubleSum& sum : sums_) held += sum.HeldBytes();
  for (const ProductSum& sum : products_) held += sum.products.HeldBytes() + sum.rests.HeldBytes();
  return held;
}

template <size_t kVariables>
void Moments<kVariables>::Save(std::string* bytes) const {
  SaveNumber(count_, bytes);
  bytes->push_back(rough_ == nullptr ? 0 : 1);
  if (rough_ == nullptr) {
    for (const DoubleSum& sum : sums_) sum.Save(bytes);
    for (const ProductSum& sum : products_) {
      sum.products.Save(bytes);
      sum.rests.Save(bytes);
    }
  } else {
    for (const long double mean : rough_->means) SaveLong(mean, bytes);
    for (const long double deviations : rough_->deviations) SaveLong(deviations, bytes);
  }
}

template <size_t kVariables>
bool Moments<kVariables>::Load(std::string_view* bytes) {
  if (!LoadCount(bytes, &count_) || bytes->empty()) return false;
  const char is_rough = bytes->front();
  bytes->remove_prefix(1);
  bool is_right = is_rough == 0 || is_rough == 1;
  if (is_rough == 0) {
    for (DoubleSum& sum : sums_) is_right = is_right && sum.Load(bytes);
    for (ProductSum& sum : products_) {
      is_right = is_right && sum.products.Load(bytes) && sum.rests.Load(bytes);
    }
  } else {
    rough_ = std::make_unique<Rough>();
    for (long double& mean : rough_->means) is_right = is_right && LoadLong(bytes, &mean);
    for (long double& deviations : rough_->deviations) is_right = is_right && LoadLong(bytes, &deviations);
  }
  return is_right;
}

template class Moments<1>;
template class Moments<2>;

}  // namespace sonde::sql
