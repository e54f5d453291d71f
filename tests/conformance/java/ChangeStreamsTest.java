package sonde.conformance;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static sonde.conformance.Fixture.admin;
import static sonde.conformance.Fixture.data;
import static sonde.conformance.Fixture.newTableId;
import static sonde.conformance.Fixture.write;

import com.google.cloud.bigtable.admin.v2.models.CreateTableRequest;
import com.google.cloud.bigtable.admin.v2.models.Type;
import com.google.cloud.bigtable.data.v2.models.AddToCell;
import com.google.cloud.bigtable.data.v2.models.ChangeStreamContinuationToken;
import com.google.cloud.bigtable.data.v2.models.ChangeStreamMutation;
import com.google.cloud.bigtable.data.v2.models.ChangeStreamRecord;
import com.google.cloud.bigtable.data.v2.models.CloseStream;
import com.google.cloud.bigtable.data.v2.models.DeleteCells;
import com.google.cloud.bigtable.data.v2.models.DeleteFamily;
import com.google.cloud.bigtable.data.v2.models.Entry;
import com.google.cloud.bigtable.data.v2.models.Heartbeat;
import com.google.cloud.bigtable.data.v2.models.Range.ByteStringRange;
import com.google.cloud.bigtable.data.v2.models.ReadChangeStreamQuery;
import com.google.cloud.bigtable.data.v2.models.RowMutation;
import com.google.cloud.bigtable.data.v2.models.SetCell;
import com.google.cloud.bigtable.common.Status;
import com.google.protobuf.ByteString;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** This is the client whose change streams Apache Beam reads; it throws at messages that break its rules. */
class ChangeStreamsTest {
  private static String newStreamedTable(String... splits) {
    CreateTableRequest request =
        CreateTableRequest.of(newTableId())
            .addFamily("f")
            .addFamily("g")
            .addFamily("sum", Type.int64Sum())
            .addChangeStreamRetention(org.threeten.bp.Duration.ofDays(1));
    for (String split : splits) {
      request.addSplit(ByteString.copyFromUtf8(split));
    }
    return admin.createTable(request).getId();
  }

  private static String render(Entry entry) {
    if (entry instanceof SetCell) {
      SetCell set = (SetCell) entry;
      String value = set.getValue().size() > 20 ? set.getValue().size() + " bytes" : set.getValue().toStringUtf8();
      return "set " + set.getFamilyName() + ":" + set.getQualifier().toStringUtf8() + "@" + set.getTimestamp() + "=" + value;
    }
    if (entry instanceof AddToCell) {
      return "add " + ((AddToCell) entry).getFamily();
    }
    if (entry instanceof DeleteFamily) {
      return "delete " + ((DeleteFamily) entry).getFamilyName();
    }
    DeleteCells delete = (DeleteCells) entry;
    return "delete " + delete.getFamilyName() + ":" + delete.getQualifier().toStringUtf8();
  }

  private static List<ChangeStreamRecord> records(ReadChangeStreamQuery query) {
    List<ChangeStreamRecord> records = new ArrayList<>();
    data.readChangeStream(query).forEach(records::add);
    return records;
  }

  /** The changes, each as its row and mutations; the stream must end as one that has reached its end. */
  private static List<String> changes(List<ChangeStreamRecord> records) {
    List<String> changes = new ArrayList<>();
    for (ChangeStreamRecord record : records.subList(0, records.size() - 1)) {
      if (record instanceof ChangeStreamMutation) {
        ChangeStreamMutation change = (ChangeStreamMutation) record;
        assertEquals(ChangeStreamMutation.MutationType.USER, change.getType());
        assertFalse(change.getToken().isEmpty());
        List<String> entries = new ArrayList<>();
        change.getEntries().forEach(entry -> entries.add(render(entry)));
        changes.add(change.getRowKey().toStringUtf8() + ": " + String.join(", ", entries));
      }
    }
    CloseStream close = (CloseStream) records.get(records.size() - 1);
    assertEquals(Status.Code.OK, close.getStatus().getCode());
    assertTrue(close.getChangeStreamContinuationTokens().isEmpty());
    return changes;
  }

  @Test
  void partitionsFollowTheSplits() {
    String table = newStreamedTable("b", "d");
    List<String> partitions = new ArrayList<>();
    for (ByteStringRange range : data.generateInitialChangeStreamPartitions(table)) {
      partitions.add(range.getStart().toStringUtf8() + "-" + range.getEnd().toStringUtf8());
    }
    assertEquals(List.of("-b", "b-d", "d-"), partitions);
  }

  @Test
  void changesComeWholeAndInOrder() {
    String table = newStreamedTable("b");
    Instant start = Instant.now();
    ByteString large = ByteString.copyFrom(new byte[300_000]);
    ByteString q = ByteString.copyFromUtf8("q");
    data.mutateRow(
        RowMutation.create(table, "a")
            .setCell("f", "q", 1000, "v")
            .setCell("f", ByteString.copyFromUtf8("large"), 2000, large)
            .addToCell("sum", "q", 0, 5)
            .deleteCells("g", q));
    data.mutateRow(RowMutation.create(table, "c").setCell("f", "q", 1000, "elsewhere"));
    data.mutateRow(RowMutation.create(table, "a").deleteRow());
    ReadChangeStreamQuery query =
        ReadChangeStreamQuery.create(table).streamPartition("", "b").startTime(start).endTime(Instant.now());
    assertEquals(
        List.of(
            "a: set f:q@1000=v, set f:large@2000=300000 bytes, add sum, delete g:q",
            "a: delete f, delete g, delete sum"),
        changes(records(query)));
  }

  /** As Beam does after a merge: with the tokens of both partitions. */
  @Test
  void readsOnFromTheTokensOfTwoPartitions() {
    String table = newStreamedTable("b");
    List<ChangeStreamContinuationToken> tokens = new ArrayList<>();
    for (ByteStringRange partition : data.generateInitialChangeStreamPartitions(table)) {
      ReadChangeStreamQuery query =
          ReadChangeStreamQuery.create(table).streamPartition(partition).heartbeatDuration(Duration.ofMillis(100));
      var stream = data.readChangeStream(query);
      tokens.add(((Heartbeat) stream.iterator().next()).getChangeStreamContinuationToken());
      stream.cancel();
    }
    write(table, "a", "f", "q", 1, "1");
    write(table, "c", "f", "q", 1, "2");
    ReadChangeStreamQuery query =
        ReadChangeStreamQuery.create(table).streamPartition("", "").continuationTokens(tokens).endTime(Instant.now());
    assertEquals(List.of("a: set f:q@1000=1", "c: set f:q@1000=2"), changes(records(query)));
  }
}
