// Reads a declaration.  Only schema_parser.h uses it.
//
// Threads: not for several threads.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "series/schema/schema.h"
#include "yaml/yaml_reader.h"

namespace sonde::series {

// Reads as much as it can of a declaration and complains of the rest; for one declaration.
class SchemaReader {
 public:
  SchemaReader(std::string_view file, Problems* problems) : problems_(problems) { schema_.file = file; }
  // Reads an earlier version.  `tables` are those that other versions have.
  SchemaReader(std::string_view file, std::set<std::string> tables, Problems* problems)
      : problems_(problems), tables_(std::move(tables)), is_version_(true) {
    schema_.file = file;
  }

  SeriesSchema Read(const YAML::Node& root);

 private:
  void ReadNames(const MapReader& map);
  void ReadTags(const YAML::Node& node);
  void ReadTag(const std::string& name, const YAML::Node& node);
  void ReadBusy(const YAML::Node& node, const std::string& what, Tag* tag);
  void ReadFields(const YAML::Node& node);
  void ReadField(const std::string& name, const YAML::Node& node);
  void ReadTime(const YAML::Node& node);
  void ReadOrigin(const MapReader& map);
  void ReadBucketAndLayout(const MapReader& map);
  void ReadDelimiter(const MapReader& map);
  void ReadIndex(const MapReader& map);
  void ReadSlot(const YAML::Node& node);
  void ReadBlob(const YAML::Node& node);
  Retention ReadRetention(const YAML::Node& node, const std::string& what);
  void ReadFamilies(const YAML::Node& node);
  // Fills in what depends on the fields' layout: their columns, families and encodings.
  void FinishFields();
  void CheckOffsetColumns();
  void CheckColumns();
  void CheckLayout();
  // Whether the rules of the table's families can tell the age of its points.
  void CheckAge(const SeriesSchema& table, int line);

  void ReadDerived(const YAML::Node& node);
  void ReadLatest(const YAML::Node& node);
  void ReadPeriod(const YAML::Node& node);
  void ReadOrder(const YAML::Node& node);
  void ReadRollup(const YAML::Node& node);
  // Complains of names that are none, and of those that the declaration has used before.
  bool TakeTable(const std::string& table, int line);
  void ReadQueries(const YAML::Node& node);
  void ReadQuery(const YAML::Node& node);
  void ReadQueryRange(const MapReader& map, DeclaredQuery* query);
  // Declarations of `versions`, each `root` with some keys replaced.
  void ReadVersions(const YAML::Node& root, const YAML::Node& node);
  std::optional<int64_t> DurationOf(const MapReader& map, std::string_view key, std::string_view what);
  // A text or a list of texts.
  std::vector<std::string> ListOf(const MapReader& map, std::string_view key, std::string_view what);
  void ReadCsv(const YAML::Node& node);
  // A map of texts; each entry goes through `accept`.
  void ReadTexts(
      const YAML::Node& node, std::string_view what,
      const std::function<void(const std::string& key, const std::string& value, int line)>& accept);

  void ReadKey(const YAML::Node& node);
  void ReadSalt(const MapReader& map, KeyPart part);
  void AddSaltPart(KeyPart part, int64_t salts);
  void ReadKeyPart(const YAML::Node& node);
  void ReadKeyMap(const YAML::Node& node);
  void ReadTimePart(const MapReader& map, std::string_view format_text, KeyPart part);
  // Without a declared width.
  int WidthBytesOf(TimeFormat format) const;
  void AddTagPart(const std::string& name, int line);
  void AddBucketPart(KeyPart part, std::optional<TimeFormat> format);
  void CheckKey();
  void CheckKeyParts();
  void CheckKeyOfLayout();
  void CheckDelimiter();
  void CheckNoDelimiter();

  // Whether `name` may be a tag or field and is new; complains.
  bool CheckNewName(const std::string& name, std::string_view kind, int line);
  std::string KeyPartsAllowed() const;
  void Complain(int line, std::string what) { problems_->Add(line, std::move(what)); }

  Problems* problems_;
  SeriesSchema schema_;
  bool bucket_is_wrong_ = false;
  std::set<std::string> names_;
  std::set<std::string> tables_;
  std::set<std::string> named_columns_;  // fields with an `as`
  int line_ = 1;
  bool has_resolution_ = false;
  bool is_version_ = false;
};

}  // namespace sonde::series
