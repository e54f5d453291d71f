// PrepareQuery and ExecuteQuery.
//
// ExecuteQuery streams: at most one message waits for the client, so a slow reader costs its message and its scan.
// Source: the comments of PartialResultSet (data.proto).  Beyond them, for the clients that there are:
//  the first message of every stream says `reset`; a batch is whole rows; a token comes with its batch's checksum;
//  `estimated_batch_size` stays 0; no checksum is 0, since one client takes that for none.
#pragma once

#include "metrics/query_metrics.h"
#include "wire/call/calls.h"
#include "wire/sql/prepared_queries.h"
#include "wire/sql/spooled_results.h"

namespace sonde {

// Adds both methods of the data service.  Nothing is owned.
void AddSqlCalls(Tables* tables, PreparedQueries* queries, SpooledResults* spooled,
                 QueryMetrics* query_metrics, const CallResources& resources, rpc::Router* router);

}  // namespace sonde
