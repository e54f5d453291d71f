'use strict';

const assert = require('node:assert/strict');
const {test} = require('node:test');
const {call, code, keys, newInstance, newTable, projectId, read, refused, write} = require('./fixture');

test('any project will do, also none', async () => {
  const table = await newTable();
  await write(table, ['r', 'f:q', 1, 'v']);
  assert.deepEqual(await read(table), ['r f:q @1 v']);
  assert.match(table.name, projectId ? /^projects\/conformance\/instances\// : /^projects\/\{\{projectId\}\}\/instances\//);
});

test('creates a table with families, rules and splits', async () => {
  const instance = newInstance();
  const [table] = await instance.createTable('weather', {
    families: [
      'all',
      {name: 'versions', rule: {versions: 3}},
      {name: 'age', rule: {age: {seconds: 86400, nanos: 0}}},
      {name: 'either', rule: {versions: 2, age: {seconds: 3600, nanos: 0}, union: true}},
      {name: 'both', rule: {versions: 2, age: {seconds: 3600, nanos: 0}}},
      {name: 'nested', rule: {versions: 9, rule: {versions: 2, age: {seconds: 60, nanos: 0}}, union: true}},
    ],
    splits: ['d', 'm', 't'].map(split => Buffer.from(split)),   // a string is taken for base64
  });
  assert.equal(table.name, `${instance.name}/tables/weather`);

  const seconds = rule => Number(rule.maxAge.seconds);
  const [families] = await table.getFamilies();
  const rules = Object.fromEntries(families.map(family => [family.id, family.metadata.gcRule]));
  assert.deepEqual(Object.keys(rules).sort(), ['age', 'all', 'both', 'either', 'nested', 'versions']);
  assert.equal(rules.all?.rule, undefined);
  assert.equal(rules.versions.maxNumVersions, 3);
  assert.equal(seconds(rules.age), 86400);
  assert.equal(seconds(rules.either.union.rules[0]), 3600);
  assert.equal(rules.either.union.rules[1].maxNumVersions, 2);
  assert.equal(seconds(rules.both.intersection.rules[0]), 3600);
  assert.equal(rules.both.intersection.rules[1].maxNumVersions, 2);
  assert.equal(rules.nested.union.rules[0].maxNumVersions, 9);
  assert.equal(rules.nested.union.rules[1].intersection.rules.length, 2);

  const [samples] = await table.sampleRowKeys();
  assert.deepEqual(samples.map(sample => sample.key.toString()), ['d', 'm', 't', '']);
});

test('a rule is obeyed by the next read', async () => {
  const table = await newTable({families: [{name: 'f', rule: {versions: 1}}]});
  await write(table, ['r', 'f:q', 1, 'old'], ['r', 'f:q', 2, 'new']);
  assert.deepEqual(await read(table), ['r f:q @2 new']);
});

test('a table that exists is not created again', async () => {
  const table = await newTable();
  await refused(table.create(), code.ALREADY_EXISTS, /\/tables\/t\b/);
});

test('a table id that is none is refused', async () => {
  await refused(newInstance().createTable('no spaces', {}), code.INVALID_ARGUMENT);
});

test('lists tables, in pages too', async () => {
  const instance = newInstance();
  for (const id of ['pear', 'apple', 'fig']) await instance.createTable(id);
  const ids = tables => tables.map(table => table.id);
  assert.deepEqual(ids((await instance.getTables())[0]), ['apple', 'fig', 'pear']);
  const page = {gaxOptions: {autoPaginate: false}, pageSize: 2};
  const [first, next] = await instance.getTables(page);
  assert.deepEqual(ids(first), ['apple', 'fig']);
  const [second] = await instance.getTables({...page, pageToken: next.pageToken});
  assert.deepEqual(ids(second), ['pear']);
});

test('tells whether a table exists', async () => {
  const table = await newTable();
  assert.deepEqual(await table.exists(), [true]);
  await table.delete();
  assert.deepEqual(await table.exists(), [false]);
  await refused(table.getMetadata(), code.NOT_FOUND, /\/tables\/t\b/);
  await refused(table.delete(), code.NOT_FOUND, /\/tables\/t\b/);
});

test('families come and go with their cells', async () => {
  const table = await newTable({families: ['f', 'g']});
  await write(table, ['r', 'f:q', 1, 'v'], ['r', 'g:q', 1, 'v']);
  await table.createFamily('h', {rule: {versions: 5}});
  await refused(table.createFamily('h'), code.ALREADY_EXISTS);
  const [metadata] = await table.family('h').setMetadata({rule: {versions: 7}});
  assert.equal(metadata.gcRule.maxNumVersions, 7);
  await table.family('g').delete();
  await refused(table.family('g').delete(), code.NOT_FOUND);
  await table.createFamily('g');
  assert.deepEqual(await read(table), ['r f:q @1 v']);
});

test('modifications of families are all made or none', async () => {
  const table = await newTable();
  const modifications = [{id: 'new', create: {}}, {id: 'absent', drop: true}];
  await refused(call('modifyColumnFamilies', {name: table.name, modifications}), code.NOT_FOUND, /absent/);
  const [families] = await table.getFamilies();
  assert.deepEqual(families.map(family => family.id), ['f']);
});

test('drops the rows of a prefix, and all', async () => {
  const table = await newTable();
  await write(table, ...['a', 'ab#1', 'ab#2', 'b'].map(key => [key, 'f:q', 1, 'v']));
  await table.deleteRows('ab#');
  assert.deepEqual(await keys(table), ['a', 'b']);
  await table.truncate();
  assert.deepEqual(await keys(table), []);
  await refused(call('dropRowRange', {name: table.name, rowKeyPrefix: Buffer.alloc(0)}), code.INVALID_ARGUMENT);
});

test('is consistent at once', async () => {
  const table = await newTable();
  assert.deepEqual(await table.waitForReplication(), [true]);
  await refused(call('checkConsistency', {name: table.name, consistencyToken: 'dummy'}), code.INVALID_ARGUMENT);
});

test('what is not built says so', async () => {
  const table = await newTable();
  const request = {name: table.name, snapshotId: 's', cluster: 'c'};
  await refused(call('snapshotTable', request), code.UNIMPLEMENTED, /SnapshotTable is not built; docs.compatibility\.md/);
});
