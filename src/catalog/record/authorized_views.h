// The authorized views of all tables, kept as the engine's records and served from memory.  It belongs to the
// catalog, which alone knows which tables exist.
//
// Threads: it has no lock of its own; the catalog locks.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/record_store.h"
#include "model/authorized_view.h"

namespace sonde {

// A view is shared and never changed; an altered view is a new AuthorizedView.
using AuthorizedViewRef = std::shared_ptr<const AuthorizedView>;

// Returns a text that changes when the view does, for clients that change only what they have seen.
std::string EtagOf(const AuthorizedView& view);

class AuthorizedViews {
 public:
  static constexpr std::string_view kRecordPrefix = "view/";  // + name

  // Loads the views from all of their records.  DATA_LOSS: a record is damaged.
  absl::Status Load(const std::vector<Record>& records);

  // NOT_FOUND: there is no such view.
  absl::StatusOr<AuthorizedViewRef> Find(std::string_view view_name) const;
  // Returns views of a table whose id is greater than `after_id`, by id, at most `count_max`.
  std::vector<AuthorizedViewRef> List(std::string_view table_name, std::string_view after_id,
                                      size_t count_max) const;
  size_t size() const { return views_.size(); }

  void Put(AuthorizedViewRef view);
  void Erase(std::string_view view_name);

  static RecordChange RecordOf(const AuthorizedView& view);
  static RecordChange NoRecordOf(std::string_view view_name);

 private:
  std::map<std::string, AuthorizedViewRef, std::less<>> views_;
};

}  // namespace sonde
