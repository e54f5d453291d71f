// What reads a declaration: behind schema_parser.h only.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "series/schema/schema.h"
#include "series/schema/yaml_reader.h"

namespace sonde::series {

// Reads as much as it can of a declaration and complains of the rest; for one declaration.
class SchemaReader {
 public:
  SchemaReader(std::string_view file, Problems* problems) : problems_(problems) { schema_.file = file; }

  SeriesSchema Read(const YAML::Node& root);

 private:
  void ReadNames(const MapReader& map);
  void ReadTags(const YAML::Node& node);
  void ReadTag(const std::string& name, const YAML::Node& node);
  void ReadFields(const YAML::Node& node);
  void ReadField(const std::string& name, const YAML::Node& node);
  void ReadTime(const YAML::Node& node);
  void ReadBucketAndLayout(const MapReader& map);
  void ReadDelimiter(const MapReader& map);
  void ReadRetention(const YAML::Node& node);
  void ReadDerived(const YAML::Node& node);
  void ReadQueries(const YAML::Node& node);
  void ReadCsv(const YAML::Node& node);
  // A map of texts; each entry goes through `accept`.
  void ReadTexts(
      const YAML::Node& node, std::string_view what,
      const std::function<void(const std::string& key, const std::string& value, int line)>& accept);

  void ReadKey(const YAML::Node& node);
  void ReadKeyPart(const YAML::Node& node);
  void ReadKeyMap(const YAML::Node& node);
  void ReadTimePart(const MapReader& map, std::string_view format_text, KeyPart part);
  void AddTagPart(const std::string& name, int line);
  void AddBucketPart(KeyPart part, std::optional<TimeFormat> format);
  void CheckKey();
  void CheckDelimiter();
  void CheckNoDelimiter();

  // Whether `name` may be a tag or field and is new; complains.
  bool CheckNewName(const std::string& name, std::string_view kind, int line);
  std::string KeyPartsAllowed() const;
  void Complain(int line, std::string what) { problems_->Add(line, std::move(what)); }

  Problems* problems_;
  SeriesSchema schema_;
  std::set<std::string> names_;
  int line_ = 1;
};

}  // namespace sonde::series
