package conformance

import (
	"fmt"
	"os"
	"testing"
	"time"

	adminpb "cloud.google.com/go/bigtable/admin/apiv2/adminpb"
	"cloud.google.com/go/longrunning/autogen/longrunningpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// operations returns the service of long-running operations.
func (f *fixture) operations() longrunningpb.OperationsClient {
	f.t.Helper()
	connection, err := grpc.NewClient(os.Getenv("BIGTABLE_EMULATOR_HOST"),
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	check(f.t, err)
	f.t.Cleanup(func() { _ = connection.Close() })
	return longrunningpb.NewOperationsClient(connection)
}

func (f *fixture) clusterName() string { return f.instanceName() + "/clusters/sonde" }

func (f *fixture) beginBackup(id, table string) *longrunningpb.Operation {
	f.t.Helper()
	operation, err := f.tables.CreateBackup(f.ctx, &adminpb.CreateBackupRequest{
		Parent:   f.clusterName(),
		BackupId: id,
		Backup: &adminpb.Backup{
			SourceTable: f.tableName(table),
			ExpireTime:  timestamppb.New(time.Now().Add(48 * time.Hour)),
		},
	})
	check(f.t, err)
	return operation
}

func (f *fixture) await(name string) *longrunningpb.Operation {
	f.t.Helper()
	operation, err := f.operations().WaitOperation(f.ctx,
		&longrunningpb.WaitOperationRequest{Name: name, Timeout: durationpb.New(time.Minute)})
	check(f.t, err)
	if !operation.Done {
		f.t.Fatalf("%s has not ended within a minute", name)
	}
	return operation
}

func TestOperationsOfBackupsRunAndAreListed(t *testing.T) {
	f := newFixture(t)
	f.write(f.createTable("t", "f"), cell{"row", "f", "q", 1, "value"})
	operations := f.operations()

	begun := f.beginBackup("b", "t")
	if begun.Done {
		t.Error("CreateBackup answers when all is done")
	}
	made := f.await(begun.Name)
	var backup adminpb.Backup
	check(t, made.GetResponse().UnmarshalTo(&backup))
	expect(t, "state", backup.State.String(), "READY")
	expect(t, "size", fmt.Sprint(backup.SizeBytes), "0")
	var created adminpb.CreateBackupMetadata
	check(t, made.Metadata.UnmarshalTo(&created))
	if created.EndTime == nil || !created.StartTime.AsTime().Equal(backup.StartTime.AsTime()) {
		t.Errorf("metadata: %v", &created)
	}

	begun, err := f.tables.RestoreTable(f.ctx, &adminpb.RestoreTableRequest{
		Parent: f.instanceName(), TableId: "restored", Source: &adminpb.RestoreTableRequest_Backup{Backup: backup.Name}})
	check(t, err)
	restored := f.await(begun.Name)
	var metadata adminpb.RestoreTableMetadata
	check(t, restored.Metadata.UnmarshalTo(&metadata))
	expect(t, "progress", fmt.Sprint(metadata.Progress.ProgressPercent), "100")
	optimized := f.await(metadata.OptimizeTableOperationName)
	var progress adminpb.OptimizeRestoredTableMetadata
	check(t, optimized.Metadata.UnmarshalTo(&progress))
	expect(t, "optimized", progress.Name+fmt.Sprint(progress.Progress.ProgressPercent), f.tableName("restored")+"100")
	expect(t, "rows", f.readAll(f.client.Open("restored")), `row f:q @1 "value"`)

	list := func(filter string) string {
		all, err := operations.ListOperations(f.ctx, &longrunningpb.ListOperationsRequest{
			Name: "operations/" + f.instanceName(), Filter: filter})
		check(t, err)
		names := ""
		for _, operation := range all.Operations {
			names += operation.Name + "\n"
		}
		return names
	}
	expect(t, "done", list("done=true"), made.Name+"\n"+restored.Name+"\n"+optimized.Name)
	expect(t, "running", list("done=false"), "")
	_, err = operations.CancelOperation(f.ctx, &longrunningpb.CancelOperationRequest{Name: made.Name})
	check(t, err)
	_, err = operations.DeleteOperation(f.ctx, &longrunningpb.DeleteOperationRequest{Name: made.Name})
	check(t, err)
	_, err = operations.GetOperation(f.ctx, &longrunningpb.GetOperationRequest{Name: made.Name})
	expectError(t, "a forgotten one", err, codes.NotFound, made.Name)
	expect(t, "all", list(""), restored.Name+"\n"+optimized.Name)
	_, err = operations.ListOperations(f.ctx, &longrunningpb.ListOperationsRequest{
		Name: "operations/" + f.instanceName(), Filter: "done=maybe"})
	expectError(t, "a filter", err, codes.InvalidArgument, "done=true or done=false, but is 'done=maybe'")
}

func TestACancelledOperationEndsAndLeavesNothing(t *testing.T) {
	f := newFixture(t)
	f.write(f.createTable("t", "f"), cell{"row", "f", "q", 1, "value"})
	operations := f.operations()
	cancelled := 0
	for i := 0; i < 5; i++ {
		id := fmt.Sprintf("b%d", i)
		begun := f.beginBackup(id, "t")
		_, err := operations.CancelOperation(f.ctx, &longrunningpb.CancelOperationRequest{Name: begun.Name})
		check(t, err)
		ended := f.await(begun.Name)
		_, err = f.tables.GetBackup(f.ctx, &adminpb.GetBackupRequest{Name: f.clusterName() + "/backups/" + id})
		if ended.GetError() == nil { // it was over before
			check(t, err)
			continue
		}
		cancelled++
		expect(t, "code", codes.Code(ended.GetError().Code).String(), "Canceled")
		expectError(t, "the backup", err, codes.NotFound, id)
	}
	if cancelled == 0 {
		t.Error("no operation was cancelled before its end")
	}
}

func TestARestoreHoldsItsBackupAndItsName(t *testing.T) {
	f := newFixture(t)
	f.write(f.createTable("t", "f"), cell{"row", "f", "q", 1, "value"})
	f.await(f.beginBackup("b", "t").Name)
	backup := f.clusterName() + "/backups/b"
	request := &adminpb.RestoreTableRequest{Parent: f.instanceName(), TableId: "restored",
		Source: &adminpb.RestoreTableRequest_Backup{Backup: backup}}
	begun, err := f.tables.RestoreTable(f.ctx, request)
	check(t, err)
	// The restore may be over by now; the answers to the rest say so.
	_, err = f.tables.RestoreTable(f.ctx, request)
	if operation, _ := f.operations().GetOperation(f.ctx, &longrunningpb.GetOperationRequest{Name: begun.Name}); !operation.Done {
		expectError(t, "again", err, codes.FailedPrecondition, "is currently being modified")
	}
	f.await(begun.Name)
	_, err = f.tables.RestoreTable(f.ctx, request)
	expectError(t, "a table that is there", err, codes.AlreadyExists, "restored")
	_, err = f.tables.DeleteBackup(f.ctx, &adminpb.DeleteBackupRequest{Name: backup})
	check(t, err)
}
