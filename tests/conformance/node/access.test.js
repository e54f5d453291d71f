// What accounts with few rights may do, by TLS and with keys that Sonde has issued: exactly what their roles have.
'use strict';

const assert = require('node:assert/strict');
const {after, before, test} = require('node:test');
const {code, newClient, newInstance, newTable, refused, secure, write} = require('./fixture.js');

const options = {skip: secure ? false : 'the server asks nobody who he is: run tests/conformance/run node-secure SONDE'};

// The calls of the client, each with the permission that it needs; `has`: roles/bigtable.viewer has it; `reads`: roles/bigtable.reader has
// it, too.
const calls = [
  {needs: 'tables.list', has: true, make: table => table.instance.getTables()},
  {needs: 'tables.get', has: true, make: table => table.getMetadata()},
  {needs: 'tables.checkConsistency', has: true, make: table => table.checkConsistency('no token'), ends: code.INVALID_ARGUMENT},
  {needs: 'tables.generateConsistencyToken', has: true, make: table => table.generateConsistencyToken()},
  {needs: 'clusters.list', has: true, make: table => table.instance.getClusters()},
  {needs: 'appProfiles.list', has: true, make: table => table.instance.getAppProfiles()},
  {needs: 'tables.readRows', reads: true, make: table => table.getRows()},
  {needs: 'tables.sampleRowKeys', reads: true, make: table => table.sampleRowKeys()},
  {needs: 'tables.mutateRows', make: table => write(table, ['r', 'f:q', 1, 'v'])},
  {needs: 'tables.mutateRows', make: table => table.deleteRows('r')},
  {needs: 'tables.mutateRows', make: table => table.row('r').createRules({column: 'f:q', append: 'v'})},
  {needs: 'tables.update', make: table => table.createFamily('g')},
  {needs: 'tables.create', make: table => table.instance.createTable('other')},
  {needs: 'tables.delete', make: table => table.delete()},
  {needs: 'instances.delete', make: table => table.instance.delete()},
];

const clients = {};
let ids;

before(async () => {
  if (!secure) return;
  for (const account of ['look', 'read', 'stranger', 'nobody', 'keyless']) clients[account] = newClient(account);
  const table = await newTable();
  await write(table, ['r', 'f:q', 1, 'v']);
  ids = [table.instance.id, table.id];
});
after(() => Promise.all(Object.values(clients).map(client => client.close())));

const tableOf = account => clients[account].instance(ids[0]).table(ids[1]);
const denied = needs => `Access denied. Missing IAM permission: bigtable.${needs}.`;

for (const {needs, has, reads, make, ends} of calls) {
  const words = make.toString().replace('table => ', '');
  for (const [account, may] of [['look', has], ['read', has || reads]]) {
    test(`${account === 'look' ? 'a viewer' : 'a reader'}: ${words}`, options, async () => {
      if (!may) return refused(make(tableOf(account)), code.PERMISSION_DENIED, denied(needs));
      if (ends !== undefined) return refused(make(tableOf(account)), ends);
      await make(tableOf(account));
    });
  }
  test(`without a key: ${words}`, options, () =>
    refused(make(tableOf('keyless')), code.UNAUTHENTICATED, 'Request had invalid authentication credentials.'));
  test(`an account without a role: ${words}`, options, () =>
    refused(make(tableOf('stranger')), code.PERMISSION_DENIED, denied(needs)));
}

test('a refusal does not tell whether there is a table', options, async () => {
  const none = clients.stranger.instance(newInstance().id).table('none');
  await refused(none.getMetadata(), code.PERMISSION_DENIED, denied('tables.get'));
  await refused(none.getRows(), code.PERMISSION_DENIED, denied('tables.readRows'));
});

test('a key that the server does not know proves nobody', options, async () => {
  await refused(tableOf('nobody').getMetadata(), code.UNAUTHENTICATED, 'Request had invalid authentication credentials.');
  await refused(tableOf('nobody').getRows(), code.UNAUTHENTICATED, 'Request had invalid authentication credentials.');
});

test('all that was refused has changed nothing', options, async () => {
  const [rows] = await newClientOfAdmin().instance(ids[0]).table(ids[1]).getRows();
  assert.deepEqual(rows.map(row => row.id), ['r']);
});

function newClientOfAdmin() {
  clients.admin ??= newClient('admin');
  return clients.admin;
}
