"""Who may do what, over the real ports with TLS: every method and route, for every kind of caller, with every role granted in every place.

The expected answers are the table below, which is written by hand.  A part that a seed chooses runs with the other tests
(SONDE_MATRIX_SEED); SONDE_MATRIX=all runs all cases.  Besides, each refusal is compared with that for a resource that does not exist:
their bytes are the same.
"""

import http.client
import os
import random
import re
import signal
import ssl
import subprocess
import time

import google.cloud.bigtable_v2  # noqa: F401  for its messages, which are found by name
import google.iam.v1.iam_policy_pb2 as iam
import google.longrunning.operations_pb2  # noqa: F401
import grpc
import pytest
from google.cloud.bigtable_admin_v2 import types as admin
from google.protobuf import descriptor_pool, message_factory

SONDE = os.environ.get("SONDE_BINARY")
pytestmark = pytest.mark.skipif(SONDE is None, reason="the program is not on this machine")

# The least of these that may.  EVERYBODY: who has proven who he is.  OPEN: without a proof, too.
OPEN, EVERYBODY, VIEWER, READER, USER, EDITOR, ADMIN, NOBODY = range(8)
ROLES = {"viewer": "roles/bigtable.viewer", "reader": "roles/bigtable.reader", "user": "roles/bigtable.user",
         "editor": "roles/editor", "admin": "roles/bigtable.admin", "custom": "projects/sonde/roles/custom"}
RANKS = {"viewer": VIEWER, "reader": READER, "user": USER, "editor": EDITOR, "admin": ADMIN, "custom": EVERYBODY, "none": EVERYBODY}
UNPROVEN = ["no proof", "forged", "expired", "revoked"]

SERVER, P, I = "", "projects/sonde", "projects/sonde/instances/sonde"
T, OTHER, V = f"{I}/tables/t", f"{I}/tables/other", f"{I}/tables/t/authorizedViews/v"
BUNDLE, C, A = f"{I}/tables/t/schemaBundles/b", f"{I}/clusters/c", f"{I}/appProfiles/a"
B, L, M = f"{C}/backups/b", f"{I}/logicalViews/l", f"{I}/materializedViews/m"
PLACES = {"server": SERVER, "project": P, "instance": I, "table": T, "view": V, "other": OTHER}

DATA, TABLES, INSTANCES = "google.bigtable.v2.Bigtable", "google.bigtable.admin.v2.BigtableTableAdmin", "google.bigtable.admin.v2.BigtableInstanceAdmin"
OPERATIONS, HEALTH = "google.longrunning.Operations", "grpc.health.v1.Health"

# Method: least rank, the resources that it is needed on, the fields that name them.  Requests lack what would change something.
METHODS = {
    f"{DATA}/ReadRows": (READER, [T], {"table_name": T}),
    f"{DATA}/SampleRowKeys": (READER, [T], {"table_name": T}),
    f"{DATA}/MutateRow": (USER, [T], {"table_name": T}),
    f"{DATA}/MutateRows": (USER, [T], {"table_name": T}),
    f"{DATA}/CheckAndMutateRow": (USER, [T], {"table_name": T}),
    f"{DATA}/ReadModifyWriteRow": (USER, [T], {"table_name": T}),
    f"{DATA}/PingAndWarm": (READER, [I], {"name": I}),
    f"{DATA}/GenerateInitialChangeStreamPartitions": (READER, [T], {"table_name": T}),
    f"{DATA}/ReadChangeStream": (READER, [T], {"table_name": T}),
    f"{DATA}/PrepareQuery": (READER, [I], {"instance_name": I}),
    f"{DATA}/ExecuteQuery": (READER, [I], {"instance_name": I}),
    f"{TABLES}/CreateTable": (EDITOR, [I], {"parent": I}),
    f"{TABLES}/CreateTableFromSnapshot": (NOBODY, [], {"parent": I}),
    f"{TABLES}/ListTables": (VIEWER, [I], {"parent": I}),
    f"{TABLES}/GetTable": (VIEWER, [T], {"name": T}),
    f"{TABLES}/UpdateTable": (EDITOR, [T], {"table.name": T}),
    f"{TABLES}/DeleteTable": (EDITOR, [T], {"name": T}),
    f"{TABLES}/UndeleteTable": (EDITOR, [T], {"name": T}),
    f"{TABLES}/CreateAuthorizedView": (EDITOR, [T], {"parent": T}),
    f"{TABLES}/ListAuthorizedViews": (VIEWER, [T], {"parent": T}),
    f"{TABLES}/GetAuthorizedView": (VIEWER, [V], {"name": V}),
    f"{TABLES}/UpdateAuthorizedView": (EDITOR, [V], {"authorized_view.name": V}),
    f"{TABLES}/DeleteAuthorizedView": (EDITOR, [V], {"name": V}),
    f"{TABLES}/ModifyColumnFamilies": (EDITOR, [T], {"name": T}),
    f"{TABLES}/DropRowRange": (USER, [T], {"name": T}),
    f"{TABLES}/GenerateConsistencyToken": (VIEWER, [T], {"name": T}),
    f"{TABLES}/CheckConsistency": (VIEWER, [T], {"name": T}),
    f"{TABLES}/SnapshotTable": (NOBODY, [], {"name": T}),
    f"{TABLES}/GetSnapshot": (NOBODY, [], {}),
    f"{TABLES}/ListSnapshots": (NOBODY, [], {}),
    f"{TABLES}/DeleteSnapshot": (NOBODY, [], {}),
    f"{TABLES}/CreateBackup": (EDITOR, [T, C], {"parent": C, "backup.source_table": T}),
    f"{TABLES}/GetBackup": (VIEWER, [B], {"name": B}),
    f"{TABLES}/UpdateBackup": (EDITOR, [B], {"backup.name": B}),
    f"{TABLES}/DeleteBackup": (EDITOR, [B], {"name": B}),
    f"{TABLES}/ListBackups": (VIEWER, [C], {"parent": C}),
    f"{TABLES}/RestoreTable": (EDITOR, [B, I], {"parent": I, "backup": B}),
    f"{TABLES}/CopyBackup": (EDITOR, [B, C], {"parent": C, "source_backup": B}),
    f"{TABLES}/GetIamPolicy": (EDITOR, [T], {"resource": T}),
    f"{TABLES}/SetIamPolicy": (ADMIN, [T], {"resource": T}),
    f"{TABLES}/TestIamPermissions": (EVERYBODY, [], {"resource": T}),
    f"{TABLES}/CreateSchemaBundle": (EDITOR, [T], {"parent": T}),
    f"{TABLES}/UpdateSchemaBundle": (EDITOR, [BUNDLE], {"schema_bundle.name": BUNDLE}),
    f"{TABLES}/GetSchemaBundle": (VIEWER, [BUNDLE], {"name": BUNDLE}),
    f"{TABLES}/ListSchemaBundles": (VIEWER, [T], {"parent": T}),
    f"{TABLES}/DeleteSchemaBundle": (EDITOR, [BUNDLE], {"name": BUNDLE}),
    f"{INSTANCES}/CreateInstance": (EDITOR, [P], {"parent": P}),
    f"{INSTANCES}/GetInstance": (VIEWER, [I], {"name": I}),
    f"{INSTANCES}/ListInstances": (VIEWER, [P], {"parent": P}),
    f"{INSTANCES}/UpdateInstance": (EDITOR, [I], {"name": I}),
    f"{INSTANCES}/PartialUpdateInstance": (EDITOR, [I], {"instance.name": I}),
    f"{INSTANCES}/DeleteInstance": (EDITOR, [I], {"name": I}),
    f"{INSTANCES}/CreateCluster": (EDITOR, [I], {"parent": I}),
    f"{INSTANCES}/GetCluster": (VIEWER, [C], {"name": C}),
    f"{INSTANCES}/ListClusters": (VIEWER, [I], {"parent": I}),
    f"{INSTANCES}/UpdateCluster": (EDITOR, [C], {"name": C}),
    f"{INSTANCES}/PartialUpdateCluster": (EDITOR, [C], {"cluster.name": C}),
    f"{INSTANCES}/DeleteCluster": (EDITOR, [C], {"name": C}),
    f"{INSTANCES}/CreateAppProfile": (EDITOR, [I], {"parent": I}),
    f"{INSTANCES}/GetAppProfile": (VIEWER, [A], {"name": A}),
    f"{INSTANCES}/ListAppProfiles": (VIEWER, [I], {"parent": I}),
    f"{INSTANCES}/UpdateAppProfile": (EDITOR, [A], {"app_profile.name": A}),
    f"{INSTANCES}/DeleteAppProfile": (EDITOR, [A], {"name": A}),
    f"{INSTANCES}/GetIamPolicy": (EDITOR, [I], {"resource": I}),
    f"{INSTANCES}/SetIamPolicy": (ADMIN, [I], {"resource": I}),
    f"{INSTANCES}/TestIamPermissions": (EVERYBODY, [], {"resource": I}),
    f"{INSTANCES}/ListHotTablets": (VIEWER, [C], {"parent": C}),
    f"{INSTANCES}/CreateLogicalView": (EDITOR, [I], {"parent": I}),
    f"{INSTANCES}/GetLogicalView": (VIEWER, [L], {"name": L}),
    f"{INSTANCES}/ListLogicalViews": (VIEWER, [I], {"parent": I}),
    f"{INSTANCES}/UpdateLogicalView": (EDITOR, [L], {"logical_view.name": L}),
    f"{INSTANCES}/DeleteLogicalView": (EDITOR, [L], {"name": L}),
    f"{INSTANCES}/CreateMaterializedView": (EDITOR, [I], {"parent": I}),
    f"{INSTANCES}/GetMaterializedView": (VIEWER, [M], {"name": M}),
    f"{INSTANCES}/ListMaterializedViews": (VIEWER, [I], {"parent": I}),
    f"{INSTANCES}/UpdateMaterializedView": (EDITOR, [M], {"materialized_view.name": M}),
    f"{INSTANCES}/DeleteMaterializedView": (EDITOR, [M], {"name": M}),
    f"{OPERATIONS}/ListOperations": (VIEWER, [T], {"name": f"operations/{T}"}),
    f"{OPERATIONS}/GetOperation": (VIEWER, [T], {"name": f"operations/{T}/operations/1"}),
    f"{OPERATIONS}/WaitOperation": (VIEWER, [T], {"name": f"operations/{T}/operations/1"}),
    f"{OPERATIONS}/DeleteOperation": (EDITOR, [T], {"name": f"operations/{T}/operations/1"}),
    f"{OPERATIONS}/CancelOperation": (EDITOR, [T], {"name": f"operations/{T}/operations/1"}),
    # Their messages are not in the package of the client: fields by number.
    f"{DATA}/GetClientConfiguration": (VIEWER, [I], {1: I}),
    f"{HEALTH}/Check": (OPEN, [], {1: ""}),
    "grpc.reflection.v1.ServerReflection/ServerReflectionInfo": (EVERYBODY, [], {7: "*"}),
    "grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo": (EVERYBODY, [], {7: "*"}),
    f"{DATA}/OpenTable": (NOBODY, [], {}),
    f"{DATA}/OpenAuthorizedView": (NOBODY, [], {}),
    f"{DATA}/OpenMaterializedView": (NOBODY, [], {}),
}
OWN_REQUESTS = {  # those that are not called METHODRequest
    "UpdateInstance": "google.bigtable.admin.v2.Instance", "UpdateCluster": "google.bigtable.admin.v2.Cluster",
    "GetIamPolicy": "google.iam.v1.GetIamPolicyRequest", "SetIamPolicy": "google.iam.v1.SetIamPolicyRequest",
    "TestIamPermissions": "google.iam.v1.TestIamPermissionsRequest"}
ROUTES = {
    "GET /healthz": (OPEN, []), "GET /readyz": (OPEN, []), "GET /login": (OPEN, []), "POST /login": (OPEN, []),
    "POST /logout": (EVERYBODY, []), "GET /api/v1/session": (EVERYBODY, []), "GET /": (EVERYBODY, []), "GET /index.html": (EVERYBODY, []),
    "GET /icon.svg": (EVERYBODY, []), "GET /assets/none.js": (EVERYBODY, []), "GET /ping": (EVERYBODY, []), "GET /health": (EVERYBODY, []),
    "GET /nothing": (EVERYBODY, []), "GET /metrics": (VIEWER, [SERVER]), "GET /api/v1/overview": (ADMIN, [SERVER]),
    "GET /api/v1/slow": (ADMIN, [SERVER]), "GET /api/v1/running": (ADMIN, [SERVER]), "POST /api/v1/running/cancel": (ADMIN, [SERVER]),
    "GET /api/v1/errors": (ADMIN, [SERVER]), "GET /api/v1/latency": (ADMIN, [SERVER]),
    "GET /api/v1/callers": (ADMIN, [SERVER]), "GET /api/v1/growth": (ADMIN, [SERVER]),
    "GET /api/v1/findings": (READER, [SERVER]), "GET /api/v1/tables": (VIEWER, [SERVER]), "GET /api/v1/views": (VIEWER, [SERVER]),
    "GET /api/v1/tables/sonde/sonde/t": (VIEWER, [T]), "GET /api/v1/tables/sonde/sonde/t/rows": (READER, [T]),
    "GET /api/v1/tables/sonde/sonde/t/cell": (READER, [T]),
    "GET /api/v1/tables/sonde/sonde/t/heatmap": (READER, [T]), "GET /api/v1/tables/sonde/sonde/t/findings": (READER, [T]),
    "GET /api/v1/series": (VIEWER, [I]), "GET /api/v1/series/s": (VIEWER, [I]), "PUT /api/v1/series/s": (EDITOR, [I]),
    "GET /api/v1/series/s/query": (READER, [I]), "POST /api/v1/series/s/query": (READER, [I]), "GET /api/v1/series/s/tags/a/values": (READER, [I]), "POST /api/v1/series/s/write": (EDITOR, [I]),
    "POST /write": (EDITOR, [I]), "POST /api/v2/write": (EDITOR, [I]), "GET /query": (READER, [I]), "POST /query": (READER, [I]),
    "POST /api/v1/write": (EDITOR, [I]), "POST /api/v1/read": (READER, [I]), "GET /api/v1/sql": (EVERYBODY, []),
    "GET /api/v1/dashboards": (VIEWER, [I]), "GET /api/v1/dashboards/d": (VIEWER, [I]), "PUT /api/v1/dashboards/d": (EDITOR, [I]),
    "POST /api/v1/dashboards/d/delete": (EDITOR, [I]),
    "POST /api/v1/sql": (READER, [I]),
    "GET /api/v1/query": (READER, [I]), "POST /api/v1/query": (READER, [I]), "GET /api/v1/query_range": (READER, [I]),
    "POST /api/v1/query_range": (READER, [I]), "GET /api/v1/query_exemplars": (READER, [I]), "POST /api/v1/query_exemplars": (READER, [I]),
    "POST /api/v1/series": (READER, [I]), "GET /api/v1/labels": (READER, [I]), "POST /api/v1/labels": (READER, [I]),
    "GET /api/v1/label/x/values": (READER, [I]), "GET /api/v1/metadata": (READER, [I]), "GET /api/v1/rules": (READER, [I]),
    "GET /api/v1/format_query": (EVERYBODY, []), "POST /api/v1/format_query": (EVERYBODY, []), "GET /api/v1/parse_query": (EVERYBODY, []),
    "POST /api/v1/parse_query": (EVERYBODY, []), "GET /api/v1/status/buildinfo": (EVERYBODY, []),
    "GET /api/v1/status/tsdb": (READER, [I]), "GET /api/v1/export": (READER, [I]), "POST /api/v1/export": (READER, [I]),
    "POST /api/v1/import": (EDITOR, [I]), "POST /api/v1/admin/tsdb/delete_series": (USER, [I]),
    "PUT /api/v1/admin/tsdb/delete_series": (USER, [I]), "POST /prometheus/api/v1/admin/tsdb/delete_series": (USER, [I]),
    "PUT /prometheus/api/v1/admin/tsdb/delete_series": (USER, [I]),
    "GET /prometheus/api/v1/series": (READER, [I]), "POST /prometheus/api/v1/query": (READER, [I]),
    "GET /api/v1/series?match[]=up": (READER, [I]),  # and tables.list, as the same path without match[]
}
# What the custom role has: tables.readRows.
CUSTOM = re.compile(r"Bigtable/(ReadRows|ReadChangeStream|GenerateInitialChangeStreamPartitions)$|/query$|/read$|/rows$|/cell$|/tags/a/values$"
                    r"|/api/v1/(query_.*|labels|label/.*|metadata|rules|status/tsdb|export)$|(POST|prometheus)\S* ?/api/v1/series$|/prometheus/(?!api/v1/admin/)")
DENIED = re.compile(r"Access denied\. Missing IAM permission: (bigtable|sonde)\.[A-Za-z]+\.[A-Za-z]+\.")
UNAUTHENTICATED = "Request had invalid authentication credentials."


def covers(place, resource):
    return place in (SERVER, resource) or resource.startswith(place + "/")


def expected(name, rank, resources, kind, place):
    if rank == OPEN:
        return "allowed"
    if kind in UNPROVEN:
        return "unauthenticated"
    if rank == NOBODY:
        return "unimplemented"
    may = RANKS[kind] >= rank or (kind == "custom" and CUSTOM.search(name) is not None)
    if rank == EVERYBODY or (may and kind != "none" and all(covers(place, resource) for resource in resources)):
        return "allowed"
    return "denied"


def encoded(fields):
    """A message of texts, by the numbers of its fields."""
    return b"".join(bytes([number << 3 | 2, len(text)]) + text.encode() for number, text in fields.items())


def request_of(method, fields):
    service, name = method.split("/")
    if not fields or isinstance(next(iter(fields)), int):
        return encoded(fields)
    package = service.rsplit(".", 1)[0]
    full = OWN_REQUESTS.get(name, f"{package}.{name}Request")
    message = message_factory.GetMessageClass(descriptor_pool.Default().FindMessageTypeByName(full))()
    for path, value in fields.items():
        at = message
        *outer, last = path.split(".")
        for part in outer:
            at = getattr(at, part)
        setattr(at, last, value)
    if name == "SetIamPolicy":
        message.policy.bindings.add(role="roles/none", members=["user:a@example.com"])  # no policy that can be set
    return message.SerializeToString()


def elsewhere(value):
    """The same name, of what does not exist."""
    if "/tables/t" in value:
        return value.replace("/tables/t", "/tables/none")
    return value.replace("instances/sonde", "instances/none")


class Matrix:
    def __init__(self, directory):
        self.directory = directory
        self.run("init")
        with open(directory / "auth.yaml", "a") as auth:
            auth.write("roles:\n  - {name: projects/sonde/roles/custom, title: Reads, permissions: [bigtable.tables.readRows]}\n")
        self.tokens = {("no proof", place): "" for place in PLACES} | {("forged", place): "sonde_0123456789ab_" + "A" * 43 for place in PLACES}
        self.tokens |= {("none", place): self.token("nothing", "none") for place in PLACES}
        self.members = {}  # by place and role
        for place in PLACES:
            for kind in [*ROLES, "expired", "revoked"]:
                self.tokens[kind, place] = self.token(f"{kind}-{place}", kind)
                self.members.setdefault((place, ROLES.get(kind, ROLES["admin"])), []).append(f"{kind}-{place}")
        for (place, role), names in self.members.items():
            for name in names if place in ("server", "project") else []:
                self.run("auth", "bind", name, role, *(["--project", "sonde"] if place == "project" else []))
        time.sleep(1.1)  # of the tokens for a second
        for place in PLACES:
            self.run("auth", "revoke", self.tokens["revoked", place].split("_")[1])
        self.log = open(directory.parent / "matrix.log", "wb")
        self.process = subprocess.Popen([SONDE, "serve", "--config", directory / "sonde.yaml", "--port", "0", "--http-port", "0"],
                                        stdout=subprocess.PIPE, stderr=self.log, text=True)
        said = self.process.stdout.readline() + self.process.stdout.readline()
        port, self.web_port = re.search(r"listening on 127\.0\.0\.1:(\d+)", said)[1], int(re.search(r"https://[^:]+:(\d+)", said)[1])
        authority = (directory / "certificates/ca.pem").read_bytes()
        self.channel = grpc.secure_channel(f"127.0.0.1:{port}", grpc.ssl_channel_credentials(authority))
        self.trusts = ssl.create_default_context(cadata=authority.decode())
        self.web = None
        self.make_tables()

    def run(self, *arguments):
        done = subprocess.run([SONDE, *arguments, "--data-dir", str(self.directory)], check=False, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def token(self, name, kind):
        return self.run("auth", "create-token", name, "--expires", "1s" if kind == "expired" else "1d").splitlines()[-1]

    def make_tables(self):
        """The tables cannot be deleted, so that nobody who may delete them does."""
        root = self.tokens["admin", "server"]

        def make(method, request):
            code, why = self.call(f"{TABLES}/{method}", type(request).serialize(request), root)
            assert code == 0, why

        for table in ("t", "other"):
            make("CreateTable", admin.CreateTableRequest(
                parent=I, table_id=table, table=admin.Table(column_families={"f": admin.ColumnFamily()}, deletion_protection=True)))
        make("CreateAuthorizedView", admin.CreateAuthorizedViewRequest(
            parent=T, authorized_view_id="v", authorized_view=admin.AuthorizedView(
                subset_view=admin.AuthorizedView.SubsetView(row_prefixes=[b""]), deletion_protection=True)))
        for place in ("instance", "table", "view", "other"):
            request = iam.SetIamPolicyRequest(resource=PLACES[place])
            for (at, role), names in self.members.items():
                if at == place:
                    request.policy.bindings.add(role=role, members=[f"serviceAccount:{name}@sonde.local" for name in names])
            service = INSTANCES if place == "instance" else TABLES
            code, why = self.call(f"{service}/SetIamPolicy", request.SerializeToString(), root)
            assert code == 0, why

    def call(self, method, request, token):
        metadata = [("authorization", f"Bearer {token}")] if token else []
        stream = self.channel.stream_stream("/" + method)(iter([request]), metadata=metadata, timeout=30)
        try:
            next(stream)
            stream.cancel()
            return 0, ""
        except StopIteration:
            return 0, ""
        except grpc.RpcError as error:
            return error.code().value[0], error.details()

    def grpc(self, method, fields, token):
        """allowed, denied, unauthenticated or unimplemented, and the words of a refusal."""
        code, words = self.call(method, request_of(method, fields), token)
        if code == 16:
            return "unauthenticated", words
        if code == 7:
            return "denied", words
        return ("unimplemented" if code == 12 else "allowed"), words

    def http(self, route, token):
        method, path = route.split(" ")
        body = b'{"query": "SELECT 1"}' if path == "/api/v1/sql" else b""
        for attempt in range(2):
            if self.web is None:
                self.web = http.client.HTTPSConnection("127.0.0.1", self.web_port, context=self.trusts, timeout=30)
            try:
                self.web.request(method, path, body=body if method != "GET" else None,
                                 headers={"Authorization": f"Bearer {token}"} if token else {})
                answer = self.web.getresponse()
                text = answer.read().decode(errors="replace")
                break
            except (http.client.HTTPException, ConnectionError):
                self.web = None  # it has rested too long
                assert attempt == 0
        is_form = (answer.headers["Content-Type"] or "").startswith("text/html")  # of a login without a token
        what = {401: "allowed" if is_form else "unauthenticated", 403: "denied"}.get(answer.status, "allowed")
        return what, text

    def end(self):
        self.channel.close()
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(timeout=60) == 0
        self.log.close()


@pytest.fixture(scope="module")
def matrix(tmp_path_factory):
    matrix = Matrix(tmp_path_factory.mktemp("matrix") / "data")
    yield matrix
    matrix.end()


def cases(names):
    """Each name with each kind of caller: in all places, or in one that the seed chooses."""
    kinds = [*ROLES, "none", *UNPROVEN]
    everything = os.environ.get("SONDE_MATRIX") == "all"
    chance = random.Random(int(os.environ.get("SONDE_MATRIX_SEED", "1")))
    for name in names:
        for kind in kinds:
            for place in PLACES if everything else [chance.choice(list(PLACES))]:
                yield name, kind, place


def check_words(what, words, name):
    if what == "unauthenticated":
        assert UNAUTHENTICATED in words and "sonde_" not in words, (name, words)
    if what == "denied":
        assert DENIED.search(words), (name, words)
        assert "tables/" not in words, (name, words)


def test_the_table_has_every_method_of_the_definitions():
    assert len(METHODS) == 81 + 5 + 1 + 2
    assert len(ROUTES) == 77


def test_every_call_is_decided_as_the_table_says(matrix):
    wrong, compared = [], 0
    for name, kind, place in cases(METHODS):
        rank, resources, fields = METHODS[name]
        token = matrix.tokens[kind, place]
        what, words = matrix.grpc(name, fields, token)
        wanted = expected(name, rank, resources, kind, PLACES[place])
        if what != wanted:
            wrong.append((name, kind, place, wanted, what, words))
            continue
        check_words(what, words, name)
        others = {path: elsewhere(value) if isinstance(value, str) else value for path, value in fields.items()}
        # With several resources a caller may have one of the permissions, on what exists.
        if what == "denied" and others != fields and len(resources) == 1:
            compared += 1
            if matrix.grpc(name, others, token) != (what, words):
                wrong.append((name, kind, place, "the same of what does not exist", words))
    assert not wrong, f"{len(wrong)} cases: {wrong[:20]}"
    assert compared > 100


def test_every_request_is_decided_as_the_table_says(matrix):
    wrong, compared = [], 0
    for name, kind, place in cases(ROUTES):
        rank, resources = ROUTES[name]
        token = matrix.tokens[kind, place]
        what, words = matrix.http(name, token)
        wanted = expected(name, rank, resources, kind, PLACES[place])
        if what != wanted:
            wrong.append((name, kind, place, wanted, what, words[:200]))
            continue
        check_words(what, words, name)
        other = name.replace("/sonde/sonde/t", "/sonde/sonde/none").replace("/series/s", "/series/none")
        if what == "denied" and other != name:
            compared += 1
            if matrix.http(other, token) != (what, words):
                wrong.append((name, kind, place, "the same of what does not exist", words[:200]))
    assert not wrong, f"{len(wrong)} cases: {wrong[:20]}"
    assert compared > 10


def test_the_policies_are_still_those_of_the_beginning(matrix):
    code, why = matrix.call(f"{TABLES}/GetTable", request_of(f"{TABLES}/GetTable", {"name": T}), matrix.tokens["viewer", "table"])
    assert code == 0, why
