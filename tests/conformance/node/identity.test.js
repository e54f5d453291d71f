// Tokens that Google's library for Node makes from a key file of `sonde auth create-key`, by the way that the gRPC clients go.
'use strict';

const assert = require('node:assert/strict');
const {spawnSync} = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const {test} = require('node:test');
const {GoogleAuth} = require('google-auth-library');

const sonde = process.env.SONDE_BINARY;
const options = {skip: sonde ? false : 'the program is not on this machine'};

function newAuth(t) {
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'sonde-auth-'));
  t.after(() => fs.rmSync(directory, {recursive: true}));
  const run = (words, input = '') =>
    spawnSync(sonde, ['auth', ...words, '--data-dir', directory], {input, encoding: 'utf8', timeout: 60_000});
  const keyFilename = path.join(directory, 'key.json');
  const made = run(['create-key', 'ingest', '--out', keyFilename, '--project', 'p', '--json']);
  assert.equal(made.status, 0, made.stderr);
  return {run, keyFilename, keyId: JSON.parse(made.stdout).id};
}

// What google-gax, which the client is built on, adds to a call.
async function authorizationOf(keyFilename, service) {
  const auth = new GoogleAuth({keyFilename, scopes: [
    'https://www.googleapis.com/auth/bigtable.data', 'https://www.googleapis.com/auth/cloud-platform']});
  auth.useJWTAccessWithScope = true;
  auth.defaultServicePath = service;
  const client = await auth.getClient();
  client.transporter = {request: ({url}) => assert.fail(`${url} is asked for a token`)};
  const headers = await client.getRequestHeaders(`https://${service}/`);
  return headers.get ? headers.get('authorization') : headers.Authorization;
}

for (const service of ['bigtable.googleapis.com', 'bigtableadmin.googleapis.com']) {
  test(`a token for ${service} proves the account`, options, async t => {
    const {run, keyFilename} = newAuth(t);
    const checked = run(['check'], await authorizationOf(keyFilename, service));
    assert.equal(checked.stdout, 'serviceAccount:ingest@sonde.local\n', checked.stderr);
  });
}

test('the project is the one of the key file', options, async t => {
  const {keyFilename} = newAuth(t);
  assert.equal(await new GoogleAuth({keyFilename}).getProjectId(), 'p');
});

test('a token of a revoked key proves nobody', options, async t => {
  const {run, keyFilename, keyId} = newAuth(t);
  const authorization = await authorizationOf(keyFilename, 'bigtable.googleapis.com');
  assert.equal(run(['check'], authorization).status, 0);
  assert.equal(run(['revoke', keyId]).status, 0);
  const checked = run(['check'], authorization);
  assert.equal(checked.stderr, `sonde auth: no account has a key with the id '${keyId}'\n`);
  assert.equal(checked.status, 1);
});
