"""Tokens that the official libraries make from a key file of `sonde auth create-key`, by the way that their gRPC clients go: the
authentication file that knows the key proves each, and nobody is asked for a token but the file."""

import json
import os
import subprocess
import types

import google.auth
import google.auth.jwt
import google.auth.transport.grpc
import google.auth.transport.requests
import pytest
from google.cloud.bigtable_admin_v2 import BigtableInstanceAdminClient, BigtableTableAdminClient
from google.cloud.bigtable_v2 import BigtableClient
from google.oauth2 import service_account

SONDE = os.environ.get("SONDE_BINARY")
pytestmark = pytest.mark.skipif(SONDE is None, reason="the program is not on this machine")
SCOPES = ["https://www.googleapis.com/auth/bigtable.data"]


class Auth:
    def __init__(self, directory):
        self.directory = directory
        self.key = str(directory / "key.json")
        made = json.loads(self.run("create-key", "ingest", "--out", self.key, "--project", "p", "--json"))
        self.member, self.key_id = made["member"], made["id"]

    def run(self, *arguments, stdin=""):
        done = subprocess.run([SONDE, "auth", *arguments, "--data-dir", str(self.directory)], input=stdin, check=False,
                              capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def who(self, headers):
        return self.run("check", stdin=headers["authorization"] + "\n")


@pytest.fixture
def auth(tmp_path):
    return Auth(tmp_path)


class NoNetwork(google.auth.transport.Request):
    def __call__(self, url, **_):
        raise AssertionError(f"{url} is asked for a token")


def as_grpc_does(credentials, host):
    """The metadata that a channel of the clients adds to a call."""
    plugin = google.auth.transport.grpc.AuthMetadataPlugin(credentials, NoNetwork(), default_host=host)
    context = types.SimpleNamespace(method_name="M", service_url=f"https://{host}/service")
    return dict(plugin._get_authorization_headers(context))


@pytest.mark.parametrize("client", [BigtableClient, BigtableTableAdminClient, BigtableInstanceAdminClient])
def test_the_gapic_clients_tokens_prove_the_account(auth, client):
    credentials = service_account.Credentials.from_service_account_file(
        auth.key, default_scopes=client.get_transport_class().AUTH_SCOPES, always_use_jwt_access=True)
    headers = as_grpc_does(credentials, client.DEFAULT_ENDPOINT)
    assert auth.who(headers) == auth.member


def test_default_credentials_prove_the_account(auth, monkeypatch):
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", auth.key)
    credentials, project = google.auth.default(default_scopes=SCOPES)
    assert project == "p"
    credentials = credentials.with_always_use_jwt_access(True)
    assert auth.who(as_grpc_does(credentials, "bigtable.googleapis.com")) == auth.member


def test_tokens_with_a_scope_prove_the_account(auth):
    credentials = service_account.Credentials.from_service_account_file(
        auth.key, scopes=SCOPES, always_use_jwt_access=True)
    headers = as_grpc_does(credentials, "bigtable.googleapis.com")
    claims = google.auth.jwt.decode(headers["authorization"].removeprefix("Bearer "), verify=False)
    assert "scope" in claims and "aud" not in claims
    assert auth.who(headers) == auth.member


def test_tokens_for_another_service_prove_nobody(auth):
    credentials = google.auth.jwt.Credentials.from_service_account_file(
        auth.key, audience="https://pubsub.googleapis.com/")
    headers = {}
    credentials.before_request(NoNetwork(), "POST", "https://pubsub.googleapis.com/", headers)
    done = subprocess.run([SONDE, "auth", "check", "--data-dir", str(auth.directory)], input=headers["authorization"],
                          check=False, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (1, "sonde auth: the token is for another audience\n")


def test_a_revoked_key_proves_nobody(auth):
    credentials = service_account.Credentials.from_service_account_file(auth.key, always_use_jwt_access=True)
    headers = as_grpc_does(credentials, "bigtable.googleapis.com")
    assert auth.who(headers) == auth.member
    auth.run("revoke", auth.key_id)
    done = subprocess.run([SONDE, "auth", "check", "--data-dir", str(auth.directory)], input=headers["authorization"],
                          check=False, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (1, f"sonde auth: no account has a key with the id '{auth.key_id}'\n")
