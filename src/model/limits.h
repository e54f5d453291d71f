// The limits of the Bigtable API, in one place.  Source: the comments of google/bigtable/v2/data.proto and
// bigtable.proto, and section 3 of the API notes that docs/compatibility.md cites.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sonde {

constexpr size_t kRowKeyBytesMax = 4 * 1024;
// The key right after the longest row key may be a bound, too.
constexpr size_t kRowRangeBoundBytesMax = kRowKeyBytesMax + 1;
constexpr size_t kFamilyNameBytesMax = 64;
constexpr size_t kQualifierBytesMax = 16 * 1024;
constexpr size_t kValueBytesMax = 100 * 1024 * 1024;
constexpr size_t kRowReadBytesMax = 256 * 1024 * 1024;
// A limit of Sonde's own: a filter, or the decision on a change, that sees a whole row at once gets at most
// this much of it.  A row that is larger than may be read is counted up to here.
constexpr size_t kRowWholeBytesMax = 4 * kRowReadBytesMax;
constexpr size_t kTableIdBytesMax = 50;
constexpr size_t kClusterIdBytesMax = 50;
constexpr size_t kMutationsPerRequestMax = 100'000;
constexpr size_t kIdempotencyTokenBytesMin = 8;
constexpr size_t kIdempotencyTokenBytesMax = 256;
constexpr size_t kFilterBytesMax = 20'480;
constexpr size_t kReadRowsRequestBytesMax = 512 * 1024;
constexpr int kFilterDepthMax = 20;
constexpr size_t kGcRuleBytesMax = 500;
constexpr size_t kFamiliesPerTableMax = 1'000;
constexpr size_t kTablesMax = 10'000;
constexpr size_t kDeletedTablesMax = 1'000;  // that are kept, so that UndeleteTable brings them back
constexpr size_t kRowKeyDelimiterBytesMax = 50;
constexpr size_t kMaterializedViewsPerInstanceMax = 50;
constexpr size_t kMaterializedViewsPerTableMax = 5;
// Limits of Sonde's own.
constexpr size_t kRowKeyFieldsMax = 100;
constexpr size_t kRowKeyFieldNameBytesMax = 300;
constexpr size_t kInitialSplitsMax = 10'000;
constexpr size_t kListTablesPageMax = 1'000;
constexpr size_t kAuthorizedViewsMax = 10'000;
// Number of row prefixes, qualifiers and qualifier prefixes of a view together.
constexpr size_t kAuthorizedViewParametersMax = 100;
constexpr size_t kSchemaBundlesPerTableMax = 10;
constexpr size_t kSchemaBundleBytesMax = 4'000'000;
constexpr size_t kListAuthorizedViewsPageMax = 1'000;
constexpr size_t kLogicalViewsPerInstanceMax = 1'000;
constexpr size_t kLogicalViewNestingMax = 8;  // views that read from views
constexpr size_t kListSqlViewsPageMax = 1'000;
// Names and queries of all logical and materialized views together, and what each takes besides.
constexpr size_t kSqlViewsBytesMax = 64 << 20;
constexpr size_t kSqlViewBytes = 512;
constexpr int64_t kChangeStreamRetentionDaysMin = 1;
constexpr int64_t kChangeStreamRetentionDaysMax = 7;
constexpr size_t kMessageBytesMax = 256 * 1024 * 1024;

// A cell's timestamp is any number from 0 to INT64_MAX that is a multiple of its table's granularity.
constexpr int64_t kMicrosPerMilli = 1'000;
// In a mutation: the timestamp is to be the server's time.
constexpr int64_t kServerTimestamp = -1;

}  // namespace sonde
