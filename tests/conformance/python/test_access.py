"""A server as `sonde init` sets it up: TLS on both ports, and the official clients with keys that Sonde has issued."""

import json
import os
import re
import signal
import ssl
import subprocess
import time
import urllib.error
import urllib.request

import google.api_core.exceptions as errors
import pytest
from google.api_core.client_options import ClientOptions
from google.auth.credentials import AnonymousCredentials
from google.cloud import bigtable
from google.cloud.bigtable import column_family
from google.cloud.bigtable.data import BigtableDataClient
from google.cloud.bigtable_admin_v2 import types as admin
from google.oauth2 import service_account

SONDE = os.environ.get("SONDE_BINARY")
pytestmark = pytest.mark.skipif(SONDE is None, reason="the program is not on this machine")
DENIED = "Access denied. Missing IAM permission: bigtable."


class Server:
    def __init__(self, directory, *init, certificates=None):
        self.directory = directory
        self.run("init", *init)
        if certificates is not None:  # a process of gRPC takes the roots of one file
            settings = directory / "sonde.yaml"
            settings.write_text(settings.read_text().replace(str(directory / "certificates"), str(certificates)))
        self.key("look", "roles/bigtable.viewer")
        self.key("read", "roles/bigtable.reader")
        self.log = open(directory.parent / "log", "wb")
        self.process = subprocess.Popen([SONDE, "serve", "--config", directory / "sonde.yaml", "--port", "0", "--http-port", "0"],
                                        stdout=subprocess.PIPE, stderr=self.log, text=True)
        said = self.process.stdout.readline() + self.process.stdout.readline()
        self.port = int(re.search(r"listening on 127\.0\.0\.1:(\d+)", said)[1])
        self.web = re.search(r"https://\S+", said)[0]
        os.environ["GRPC_DEFAULT_SSL_ROOTS_FILE_PATH"] = str(directory / "certificates/ca.pem")

    def run(self, *arguments):
        done = subprocess.run([SONDE, *arguments, "--data-dir", str(self.directory)], check=False, capture_output=True, text=True,
                              timeout=60)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def key(self, name, role):
        self.run("auth", "create-key", name, "--out", str(self.directory.parent / f"{name}.json"))
        self.run("auth", "bind", name, role)

    def reload(self):
        self.process.send_signal(signal.SIGHUP)
        time.sleep(0.5)

    def client(self, key):
        return self.project(key).instance("i")

    def project(self, key):
        credentials = service_account.Credentials.from_service_account_file(str(key), always_use_jwt_access=True)
        return bigtable.Client(project="p", admin=True, credentials=credentials,
                               client_options=ClientOptions(api_endpoint=f"localhost:{self.port}"))

    def http(self, path, token=None, body=None, method=None):
        request = urllib.request.Request(self.web + path, data=body, method=method)
        if token is not None:
            request.add_header("Authorization", f"Bearer {token}")
        trusts = ssl.create_default_context(cafile=str(self.directory / "certificates/ca.pem"))
        try:
            with urllib.request.urlopen(request, context=trusts, timeout=30) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(timeout=60) == 0
        self.log.close()


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    emulator = os.environ.pop("BIGTABLE_EMULATOR_HOST", None)  # of the other tests: clients would go there
    server = Server(tmp_path_factory.mktemp("access") / "data")
    yield server
    server.end()
    if emulator is not None:
        os.environ["BIGTABLE_EMULATOR_HOST"] = emulator


@pytest.fixture(scope="module")
def table(server):
    table = server.client(server.directory / "admin-key.json").table("t")
    table.create(column_families={"f": column_family.MaxVersionsGCRule(1)})
    row = table.direct_row(b"k")
    row.set_cell("f", b"q", b"v")
    assert [status.code for status in table.mutate_rows([row])] == [0]
    return table


def denied(server, key, name="t"):
    """What of a table this key may not do: the permissions that are missing."""
    table = server.client(server.directory.parent / f"{key}.json").table(name)
    row = table.direct_row(b"k2")
    row.set_cell("f", b"q", b"v")
    missing = []
    for call in (lambda: table.read_row(b"k"), lambda: table.mutate_rows([row]), table.get_iam_policy, table.delete):
        try:
            answer = call()
            if isinstance(answer, list) and answer[0].code != 0:  # of MutateRows
                missing.append(answer[0].message.removeprefix(DENIED).removesuffix("."))
        except errors.PermissionDenied as error:
            missing.append(error.message.removeprefix(DENIED).removesuffix("."))
    return missing


def test_the_first_key_may_do_everything(server, table):
    assert table.read_row(b"k").cells["f"][b"q"][0].value == b"v"
    assert [one.table_id for one in table._instance.list_tables()] == ["t"]


def test_roles_let_through_what_they_have(server, table):
    assert denied(server, "look") == ["tables.readRows", "tables.mutateRows", "tables.getIamPolicy", "tables.delete"]
    assert denied(server, "read") == ["tables.mutateRows", "tables.getIamPolicy", "tables.delete"]


def test_a_refusal_does_not_tell_what_there_is(server, table):
    assert denied(server, "look", "none") == denied(server, "look")


def test_a_policy_of_a_table_grants_more(server, table):
    policy = table.get_iam_policy()
    policy["roles/bigtable.user"] = ["serviceAccount:look@sonde.local"]
    table.set_iam_policy(policy)
    assert denied(server, "look") == ["tables.getIamPolicy", "tables.delete"]
    assert "tables.readRows" in denied(server, "look", "other"), "it is of that table alone"
    policy = table.get_iam_policy()
    del policy["roles/bigtable.user"]
    table.set_iam_policy(policy)
    assert "tables.readRows" in denied(server, "look")


def test_a_policy_of_a_view_lets_its_rows_be_read_and_no_others(server, table):
    """The view's query is read with the right of who defined it; to define one takes a right to read what it names."""
    client, name = table._instance._client.instance_admin_client, f"{table._instance.name}/logicalViews/v"
    view = admin.LogicalView(query="SELECT _key, f['q'] AS q FROM t")
    client.create_logical_view(parent=table._instance.name, logical_view_id="v", logical_view=view).result(timeout=60)
    with open(server.directory / "auth.yaml", "a") as auth:
        auth.write("roles:\n  - {name: projects/p/roles/asks, title: Asks, permissions: [bigtable.instances.executeQuery, "
                   "bigtable.logicalViews.create]}\n")
    server.key("ask", "projects/p/roles/asks")
    server.reload()
    asking = server.client(server.directory.parent / "ask.json")

    def ask(query):
        credentials = asking._client._credentials
        with BigtableDataClient(project="p", credentials=credentials, client_options=asking._client._client_options) as data:
            return [tuple(value for _, value in row.fields) for row in data.execute_query(query, "i")]

    def tested():
        return asking._client.instance_admin_client.test_iam_permissions(
            request={"resource": name, "permissions": ["bigtable.logicalViews.readRows", "bigtable.logicalViews.update"]}).permissions

    for query in ("SELECT * FROM v", "SELECT * FROM none"):  # which tells nobody that there is a view
        with pytest.raises(errors.PermissionDenied, match="bigtable.tables.readRows"):
            ask(query)
    assert tested() == []
    policy = client.get_iam_policy(request={"resource": name})
    policy.bindings.add(role="roles/bigtable.reader", members=["serviceAccount:ask@sonde.local"])
    client.set_iam_policy(request={"resource": name, "policy": policy})
    assert tested() == ["bigtable.logicalViews.readRows"]
    assert ask("SELECT * FROM v WHERE _key = 'k'") == [(b"k", b"v")]
    with pytest.raises(errors.PermissionDenied, match="bigtable.tables.readRows"):
        ask("SELECT * FROM t")
    with pytest.raises(errors.PermissionDenied, match="bigtable.tables.readRows"):
        asking._client.instance_admin_client.create_logical_view(
            parent=table._instance.name, logical_view_id="w", logical_view=view).result(timeout=60)
    client.delete_logical_view(name=name)
    client.create_logical_view(parent=table._instance.name, logical_view_id="v", logical_view=view).result(timeout=60)
    with pytest.raises(errors.PermissionDenied):  # the policy went with the view
        ask("SELECT * FROM v")
    client.delete_logical_view(name=name)


def test_a_revoked_key_ends_at_once_also_on_connections_that_are_open(server, table):
    server.key("gone", "roles/bigtable.reader")
    server.reload()
    open_table = server.client(server.directory.parent / "gone.json").table("t")
    assert open_table.read_row(b"k") is not None
    listed = json.loads(server.run("auth", "list", "--json"))
    key_id = json.loads((server.directory.parent / "gone.json").read_text())["private_key_id"]
    assert key_id in json.dumps(listed)
    server.run("auth", "revoke", key_id)
    server.reload()
    with pytest.raises(errors.Unauthenticated, match="Request had invalid authentication credentials"):
        open_table.read_row(b"k")


def test_without_a_key_nobody_does_anything(server, table):
    client = bigtable.Client(project="p", admin=True, credentials=AnonymousCredentials(),
                             client_options=ClientOptions(api_endpoint=f"localhost:{server.port}"))
    keyless = client.instance("i").table("t")
    for call in (lambda: keyless.read_row(b"k"), keyless.get_iam_policy, keyless.delete, client.instance("i").list_tables):
        with pytest.raises(errors.Unauthenticated, match="Request had invalid authentication credentials"):
            call()


def test_the_http_port_asks_too(server, table):
    assert server.http("healthz")[0] == 200
    status, body = server.http("metrics")
    assert status == 401 and "UNAUTHENTICATED" in body
    token = server.run("auth", "create-token", "watch", "--expires", "1d").splitlines()[-1]
    server.reload()
    status, body = server.http("metrics", token)
    assert status == 403 and "sonde.metrics.get" in body
    server.run("auth", "bind", "watch", "roles/sonde.monitor")
    server.reload()
    assert server.http("metrics", token)[0] == 200
    status, body = server.http("api/v1/sql", token, b'{"query": "SELECT 1"}')
    assert status == 403 and "bigtable." in body


def test_insert_needs_the_right_to_write_to_the_tables_of_its_series(server, table):
    tokens = {}
    for name, role in (("web-read", "roles/bigtable.reader"), ("web-user", "roles/bigtable.user"), ("web-edit", "roles/editor")):
        tokens[role] = server.run("auth", "create-token", name, "--expires", "1d").splitlines()[-1]
        server.run("auth", "bind", name, role)
    server.key("write", "roles/bigtable.user")
    server.reload()
    declaration = b"series: thermometer\ntags: {room: string}\nfields: {degrees: double}\nkey: [room, time]\nlayout: row\n"
    status, body = server.http("api/v1/series/thermometer", tokens["roles/editor"], declaration, method="PUT")
    assert status == 200, body

    def ask(key, query):
        known = server.client(server.directory.parent / f"{key}.json")._client
        with BigtableDataClient(project="sonde", credentials=known._credentials, client_options=known._client_options) as data:
            return [tuple(value for _, value in row.fields) for row in data.execute_query(query, "sonde")]

    insert = "INSERT INTO series.thermometer (room, time, degrees) VALUES ('hall', '2024-05-01 10:00:00Z', 20.5), (NULL, '2024-05-01', 1)"
    for query in (insert, insert.replace("thermometer", "none")):  # which tells nobody that there is a series
        with pytest.raises(errors.PermissionDenied, match="bigtable.tables.mutateRows"):
            ask("read", query)
    assert ask("write", insert) == [(1, 1, "Row 2: tag room is NULL")]
    assert ask("write", insert) == [(1, 1, "Row 2: tag room is NULL")]
    assert ask("read", "SELECT room, degrees FROM series.thermometer") == [("hall", 20.5)], "the same point twice is one"
    with pytest.raises(errors.InvalidArgument, match="none of its 1 rows is a point. Row 1: tag room is NULL"):
        ask("write", "INSERT INTO series.thermometer (room, time, degrees) VALUES (NULL, '2024-05-01', 1)")

    def web(role, query):
        status, body = server.http("api/v1/sql", tokens[role], json.dumps({"query": query}).encode())
        return status, body.splitlines()

    another = insert.replace("hall", "attic")
    status, lines = web("roles/bigtable.reader", another)
    assert status == 403 and "bigtable.tables.mutateRows" in lines[0]
    status, lines = web("roles/bigtable.user", another)
    assert status == 200 and lines[1] == '[1,1,"Row 2: tag room is NULL"]', lines
    assert ask("read", "SELECT COUNT(*) FROM series.thermometer") == [(2,)]


def test_no_secret_is_in_what_the_server_writes(server, table):
    secret = json.loads((server.directory / "admin-key.json").read_text())["private_key"].splitlines()[1]
    for path in (server.directory / "audit.log", server.directory / "auth.yaml", server.directory.parent / "log"):
        text = path.read_text()
        assert secret not in text and "Bearer" not in text and "eyJ" not in text, path
        if path.name != "log":  # which the test has opened
            assert path.stat().st_mode & 0o077 == 0, path


@pytest.fixture(scope="module")
def production(server, tmp_path_factory):
    production = Server(tmp_path_factory.mktemp("production") / "data", "--production", certificates=server.directory / "certificates")
    yield production
    production.end()


def test_a_production_server_makes_no_instance_by_itself(production):
    client = production.project(production.directory / "admin-key.json")
    with pytest.raises(errors.NotFound, match="projects/p/instances/none"):
        client.instance("none").table("t").create(column_families={"f": None})
    assert client.list_instances()[0] == []
    instance = client.instance("production", display_name="Production", labels={"of": "tests"})
    instance.create(clusters=[instance.cluster("one", location_id="zone-a", serve_nodes=1)]).result(timeout=60)
    table = instance.table("t")
    table.create(column_families={"f": column_family.MaxVersionsGCRule(1)})
    row = table.direct_row(b"k")
    row.set_cell("f", b"q", b"v")
    assert [status.code for status in table.mutate_rows([row])] == [0]
    assert table.read_row(b"k").cells["f"][b"q"][0].value == b"v"
    with pytest.raises(errors.NotFound, match="App profile not found: projects/p/instances/production/appProfiles/unknown"):
        instance.table("t", app_profile_id="unknown").read_row(b"k")
    profile = instance.app_profile("unknown", routing_policy_type=1, description="known from now on")
    profile.create(ignore_warnings=True)
    assert instance.table("t", app_profile_id="unknown").read_row(b"k").cells["f"][b"q"][0].value == b"v"


def test_nothing_that_is_there_is_replaced(server):
    done = subprocess.run([SONDE, "init", "--data-dir", str(server.directory)], check=False, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and "is there already: nothing is replaced" in done.stderr
