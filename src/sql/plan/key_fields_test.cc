// Conditions on the fields of row keys, as ranges of rows.
//
// SONDE_KEY_RANGES_KEYS and SONDE_TEST_SEED in the environment: how many random keys are asked for, and which.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/arena.h"
#include "base/bytes.h"
#include "rows/batch.h"
#include "sql/bind/plan_test_support.h"
#include "sql/key/random_key_test_support.h"
#include "sql/key/row_key_codec.h"
#include "sql/plan/key_ranges.h"
#include "sql/value/value_text.h"

namespace sonde::sql {
namespace {

using Ranges = std::vector<RowRange>;

TableSchemaRef TableOf(const RowKeySchema& keys) {
  TableSchema schema = *FakeTable("t", 1);
  schema.row_key_schema = keys;
  return std::make_shared<const TableSchema>(std::move(schema));
}

absl::StatusOr<BoundQuery> BindOver(const RowKeySchema& keys, const std::string& sql) {
  BindOptions options = FakeOptions();
  options.find_table = [table = TableOf(keys)](std::string_view) { return table; };
  return ParseAndBind(sql, options);
}

const Plan::Scan& ScanOf(const BoundQuery& query) {
  const Plan* at = query.plan.get();
  while (at->kind != Plan::Kind::kScan) at = at->inputs[0].get();
  return *at->scan;
}

// (city STRING, id INT64, moment TIMESTAMP)
RowKeySchema Readings(RowKeySchema::Encoding encoding) {
  using Number = RowKeyField::NumberEncoding;
  return {
      .encoding = encoding,
      .delimiter = "#",
      .fields = {
          {.name = "city", .kind = RowKeyField::Kind::kString},
          {.name = "id", .kind = RowKeyField::Kind::kInt64, .number_encoding = Number::kOrderedCode},
          {.name = "moment", .kind = RowKeyField::Kind::kTimestamp, .number_encoding = Number::kBigEndian}}};
}

std::string Columns(const std::string& sql) {
  const absl::StatusOr<BoundQuery> query = BindOver(Readings(RowKeySchema::Encoding::kDelimited), sql);
  if (!query.ok()) return query.status().ToString();
  std::string text;
  for (const OutputColumn& column : query->columns) text += column.name + " " + column.type.ToString() + "; ";
  return text;
}

TEST(KeyFields, StandForTheKeyInAStar) {
  const std::string all =
      "city STRING; id INT64; moment TIMESTAMP; cf MAP<BYTES, BYTES>; n MAP<BYTES, INT64>; ";
  EXPECT_EQ(Columns("SELECT * FROM t"), all);
  EXPECT_EQ(Columns("SELECT a.* FROM t AS a"), all);
  EXPECT_EQ(Columns("SELECT * FROM (SELECT * FROM t)"), all);
  EXPECT_EQ(Columns("SELECT * FROM (SELECT *, _key FROM t)"), all + "_key BYTES; ");
  EXPECT_EQ(Columns("SELECT _key, city FROM t"), "_key BYTES; city STRING; ");
  EXPECT_EQ(Columns("SELECT t._key FROM t WHERE t.id > 3"), "_key BYTES; ");
  EXPECT_EQ(Columns("SELECT * EXCEPT (city, cf, n) FROM t"), "id INT64; moment TIMESTAMP; ");
}

TEST(KeyFields, ArePartsOfPipes) {
  EXPECT_EQ(Columns("FROM t |> WHERE city = 'x' |> SELECT id"), "id INT64; ");
  EXPECT_EQ(Columns("FROM t |> WHERE _key = b'x'"),
            "city STRING; id INT64; moment TIMESTAMP; cf MAP<BYTES, BYTES>; n MAP<BYTES, INT64>; ");
}

// The ranges of a condition.
std::string RangesOf(RowKeySchema::Encoding encoding, const std::string& condition) {
  const absl::StatusOr<BoundQuery> query =
      BindOver(Readings(encoding), "SELECT _key FROM t WHERE " + condition);
  if (!query.ok()) return query.status().ToString();
  EvaluationContext context;
  context.parameters = {Value::Null(TypeKind::kBytes), Value::String("x"), Value::Int(5),
                        Value::Null(Type::Array(TypeKind::kBytes)), Value::Null(TypeKind::kTimestamp)};
  const absl::StatusOr<Ranges> ranges = KeyRanges(ScanOf(*query), context);
  if (!ranges.ok()) return ranges.status().ToString();
  std::string text;
  for (const RowRange& range : *ranges) {
    if (!text.empty()) text += " ";
    text +=
        range.IsSingleRow() ? Printable(range.start) : Printable(range.start) + ".." + Printable(range.end);
  }
  return text;
}

TEST(KeyFields, BoundTheRowsFromTheLeft) {
  const auto ranges = [](const std::string& condition) {
    return RangesOf(RowKeySchema::Encoding::kDelimited, condition);
  };
  EXPECT_EQ(ranges("city = 'x'"), "x#..x$");
  EXPECT_EQ(ranges("city = @s AND id = @n"), "x#\\x85#..x#\\x85$");
  EXPECT_EQ(ranges("id = 5"), "..") << "the field before is not known";
  EXPECT_EQ(ranges("city = 'x' AND id = 5 AND moment = TIMESTAMP_MICROS(0x61)"),
            "x#\\x85#\\x00\\x00\\x00\\x00\\x00\\x00\\x00a");
  EXPECT_EQ(ranges("city IN ('x', 'y') AND id IN (1, -1)"),
            "x#\\x7f#..x#\\x7f$ x#\\x81#..x#\\x81$ y#\\x7f#..y#\\x7f$ y#\\x81#..y#\\x81$");
  EXPECT_EQ(ranges("city = 'x' AND id > 5"), "x#\\x86..x$");
  EXPECT_EQ(ranges("city = 'x' AND id BETWEEN 1 AND 2"), "x#\\x81..x#\\x82\\x00 x#\\x82#..x#\\x82$");
  EXPECT_EQ(ranges("city >= 'x' AND city < 'z' AND id = 5"), "x..z");
  EXPECT_EQ(ranges("STARTS_WITH(city, 'x')"), "x..y");
  EXPECT_EQ(ranges("city LIKE 'x%'"), "x..y");
  EXPECT_EQ(ranges("city = 'x' OR city = 'y'"), "x#..x$ y#..y$");
  EXPECT_EQ(ranges("(city = 'x' AND id = 1) OR (city = 'y' AND id = 2)"),
            "x#\\x81#..x#\\x81$ y#\\x82#..y#\\x82$");
  EXPECT_EQ(ranges("city IS NULL"), "");
  EXPECT_EQ(ranges("city = 'x' AND id = CAST(NULL AS INT64)"), "");
  EXPECT_EQ(ranges("city = 'x' AND STARTS_WITH(_key, b'x#a')"), "x#a..x#b");
  EXPECT_EQ(ranges("city = 'a#b'"), "") << "no city has the delimiter in it";
  EXPECT_EQ(ranges("id > 9223372036854775807"), "");
}

TEST(KeyFields, BoundOrderedCodes) {
  const auto ranges = [](const std::string& condition) {
    return RangesOf(RowKeySchema::Encoding::kOrderedCode, condition);
  };
  EXPECT_EQ(ranges("city = 'x'"), "x..x\\x00\\x02");
  EXPECT_EQ(ranges("city = 'x' AND id = 5"), "x\\x00\\x01\\x85..x\\x00\\x01\\x85\\x00\\x02");
  EXPECT_EQ(ranges("city = 'x' AND id < 5"), "x..x\\x00\\x01\\x84\\x00\\xff");
  EXPECT_EQ(ranges("city > 'x'"), "x\\x00\\xff..");
  EXPECT_EQ(ranges("city <= 'x'"), "..x\\x00\\xff");
}

TEST(KeyFields, ATextThatIsWrittenAsAPrefixOfEscapesDoesNotBeginWithIt) {
  RowKeySchema schema;
  schema.fields = {{.name = "a", .kind = RowKeyField::Kind::kBytes, .null_escape = std::string(1, '\0')}};
  const absl::StatusOr<BoundQuery> query =
      BindOver(schema, "SELECT _key FROM t WHERE NOT STARTS_WITH(a, b'\\x00')");
  ASSERT_TRUE(query.ok()) << query.status();
  const absl::StatusOr<Ranges> ranges = KeyRanges(ScanOf(*query), EvaluationContext());
  ASSERT_TRUE(ranges.ok());
  std::string key;
  ASSERT_TRUE(AppendRowKey(schema, {Datum::Bytes("")}, &key).ok());
  EXPECT_EQ(key, std::string(1, '\0'));
  EXPECT_TRUE(std::any_of(ranges->begin(), ranges->end(),
                          [&](const RowRange& range) { return range.Contains(key); }));
}

// --- Random conditions over random keys.

class RandomConditions {
 public:
  RandomConditions(const RowKeySchema& schema, RandomKeys* random) : schema_(schema), random_(random) {}

  std::string Condition(int depth) {
    if (depth > 0 && random_->Below(5) > 1) {
      const std::string a = Condition(depth - 1);
      const uint64_t how = random_->Below(6);
      if (how == 0) return "NOT (" + a + ")";
      return "((" + a + ")" + (how > 2 ? " AND " : " OR ") + "(" + Condition(depth - 1) + "))";
    }
    if (random_->Below(10) == 0) return "_key " + Operator() + " " + BytesLiteral(random_->Text());
    const RowKeyField& field = schema_.fields[random_->Below(schema_.fields.size())];
    return OfField(field);
  }

 private:
  std::string Operator() {
    static constexpr std::string_view kOperators[] = {"=", "=", "!=", "<", "<=", ">", ">="};
    return std::string(kOperators[random_->Below(7)]);
  }

  std::string Literal(const RowKeyField& field) {
    Arena arena;
    Datum value = random_->Value(field, &arena);
    while (!value.is_there) value = random_->Value(field, &arena);
    static constexpr TypeKind kTypes[] = {TypeKind::kBytes, TypeKind::kString, TypeKind::kInt64,
                                          TypeKind::kTimestamp};
    std::string text;
    AppendSql(kTypes[static_cast<size_t>(field.kind)], value, &text);
    return text;
  }

  std::string OfField(const RowKeyField& field) {
    const std::string negation = random_->Below(4) == 0 ? "NOT " : "";
    switch (random_->Below(field.IsNumber() ? 5 : 8)) {
      case 0:
        return field.name + " " + negation + "IN (" + Literal(field) + ", " + Literal(field) + ")";
      case 1:
        return field.name + " " + negation + "BETWEEN " + Literal(field) + " AND " + Literal(field);
      case 2:
        return Literal(field) + " " + Operator() + " " + field.name;
      case 3:
        return field.name + (negation.empty() ? " IS NULL" : " IS NOT NULL");
      case 5:
        return negation + "STARTS_WITH(" + field.name + ", " + Literal(field) + ")";
      case 6: {
        std::string pattern = Literal(field);
        pattern.insert(pattern.size() - 1, random_->Below(2) == 0 ? "%" : "_");
        return field.name + " " + negation + "LIKE " + pattern;
      }
      default:
        return field.name + " " + Operator() + " " + Literal(field);
    }
  }

  const RowKeySchema& schema_;
  RandomKeys* const random_;
};

struct Keys {
  std::vector<std::string> bytes;
  std::vector<std::vector<Datum>> fields;  // by key
};

Keys RandomKeysOf(const RowKeySchema& schema, size_t count, RandomKeys* random, Arena* arena) {
  Keys keys;
  for (size_t attempt = 0; keys.bytes.size() < count && attempt < 4 * count; ++attempt) {
    std::vector<Datum> fields = random->Values(schema, arena);
    std::string key;
    if (!AppendRowKey(schema, fields, &key).ok()) continue;
    keys.bytes.push_back(std::move(key));
    keys.fields.push_back(std::move(fields));
  }
  return keys;
}

// The columns of a scan over keys.
class KeyBatch {
 public:
  KeyBatch(const Plan::Scan& scan, const Keys& keys) : views_(keys.bytes.begin(), keys.bytes.end()) {
    batch_.rows = views_.size();
    for (const ScanColumn& column : scan.columns) {
      if (column.kind == ScanColumn::Kind::kKey) {
        batch_.columns.push_back(ColumnView::OfBytes(views_));
      } else {
        AddField(column, keys);
      }
    }
  }
  const rows::Batch& batch() const { return batch_; }

 private:
  void AddField(const ScanColumn& column, const Keys& keys) {
    Field& field = *fields_.emplace_back(std::make_unique<Field>());
    for (const std::vector<Datum>& values : keys.fields) {
      const Datum& value = values[column.index];
      field.there.push_back(value.is_there ? 1 : 0);
      field.bytes.push_back(value.is_there && column.type.IsText() ? value.bytes() : "");
      field.ints.push_back(column.type.IsText() ? 0 : value.integer);
    }
    batch_.columns.push_back(column.type.IsText() ? ColumnView::OfBytes(field.bytes, field.there.data())
                                                  : ColumnView::OfInts(field.ints, field.there.data()));
  }

  struct Field {
    std::vector<std::string_view> bytes;
    std::vector<int64_t> ints;
    std::vector<uint8_t> there;
  };
  std::vector<std::string_view> views_;
  std::vector<std::unique_ptr<Field>> fields_;
  rows::Batch batch_;
};

int64_t FromEnvironment(const char* name, int64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoll(text);
}

TEST(KeyFields, RangesHoldAllRowsThatAConditionLetsThrough) {
  constexpr size_t kKeysAtOnce = 500;
  const int64_t keys_max = FromEnvironment("SONDE_KEY_RANGES_KEYS", 20'000);
  RandomKeys random(FromEnvironment("SONDE_TEST_SEED", 7));
  size_t asked = 0, read = 0, bounded = 0;
  for (int64_t made = 0; made < keys_max;) {
    Arena keys_arena;
    const RowKeySchema schema = random.Schema();
    const Keys keys = RandomKeysOf(schema, kKeysAtOnce, &random, &keys_arena);
    made += std::max<int64_t>(keys.bytes.size(), 1);
    for (int trial = 0; trial < 20; ++trial) {
      const std::string condition = RandomConditions(schema, &random).Condition(3);
      const absl::StatusOr<BoundQuery> query = BindOver(schema, "SELECT _key FROM t WHERE " + condition);
      ASSERT_TRUE(query.ok()) << condition << ": " << query.status();
      if (query->plan->kind != Plan::Kind::kFilter && query->plan->inputs[0]->kind != Plan::Kind::kFilter)
        continue;
      const Plan& filter = query->plan->kind == Plan::Kind::kFilter ? *query->plan : *query->plan->inputs[0];
      const EvaluationContext context;
      const absl::StatusOr<Ranges> ranges = KeyRanges(*filter.inputs[0]->scan, context);
      ASSERT_TRUE(ranges.ok() && AreNormal(*ranges)) << condition;
      Arena arena;
      Evaluator evaluator(*filter.expressions[0], &context);
      const KeyBatch batch(*filter.inputs[0]->scan, keys);
      const absl::StatusOr<ColumnView> passes = evaluator.Evaluate(batch.batch(), &arena);
      ASSERT_TRUE(passes.ok()) << condition << ": " << passes.status();
      std::vector<size_t> passing;
      RowsThatAreTrue(*passes, &passing);
      const auto is_held = [&](const std::string& key) {
        return std::any_of(ranges->begin(), ranges->end(),
                           [&](const RowRange& range) { return range.Contains(key); });
      };
      for (const size_t row : passing) {
        ASSERT_TRUE(is_held(keys.bytes[row])) << condition << " at " << BytesLiteral(keys.bytes[row]);
      }
      asked += keys.bytes.size();
      read += std::count_if(keys.bytes.begin(), keys.bytes.end(), is_held);
      bounded += *ranges == Ranges{RowRange::All()} ? 0 : 1;
    }
  }
  EXPECT_LT(read, asked * 3 / 4) << "ranges bound something";
  EXPECT_GT(bounded, 100);
}

}  // namespace
}  // namespace sonde::sql
