'use strict';

const assert = require('node:assert/strict');
const {test} = require('node:test');
const {code, newTable, read, refused, write} = require('./fixture');

const CLUSTER = 'c1';
const inHours = hours => new Date(Math.floor(Date.now() / 1000) * 1000 + hours * 3_600_000);

async function writtenTable() {
  const table = await newTable();
  await write(table, ...Array.from({length: 50}, (_, i) => [`row-${i}`, 'f:q', i + 1, `value ${i}`]));
  return [table, await read(table)];
}

async function newBackup(table, id, hours) {
  const backup = table.instance.cluster(CLUSTER).backup(id);
  const [, operation] = await backup.create({table, expireTime: inHours(hours)});
  await operation.promise();
  return backup;
}

test('a backup is made, altered, restored and deleted', async () => {
  const [table, before] = await writtenTable();
  const backup = await newBackup(table, 'made', 8);
  const [metadata] = await backup.getMetadata();
  assert.equal(metadata.state, 'READY');
  assert.match(metadata.sourceTable, /\/tables\/t$/);
  assert.ok(Math.abs(Number(metadata.expireTime.seconds) - inHours(8).getTime() / 1000) < 60);
  const [backups] = await table.instance.cluster(CLUSTER).getBackups();
  assert.deepEqual(backups.map(one => one.id), ['made']);

  const later = inHours(30);
  await backup.setMetadata({expireTime: later});
  const [altered] = await backup.getMetadata();
  assert.equal(Number(altered.expireTime.seconds) * 1000, later.getTime());

  await table.truncate();
  await write(table, ['later', 'f:q', 1, 'x']);
  const [restored, operation] = await backup.restore('restored');
  await operation.promise();
  assert.deepEqual(await read(restored), before);
  assert.deepEqual(await read(table), ['later f:q @1 x']);

  await backup.delete();
  await refused(backup.getMetadata(), code.NOT_FOUND);
  assert.deepEqual(await read(restored), before);
});

test('a copy outlives its source', async () => {
  const [table, before] = await writtenTable();
  const source = await newBackup(table, 'source', 30);
  const [copy, operation] = await source.copy({cluster: table.instance.cluster('c2'), id: 'copied', expireTime: inHours(24)});
  await operation.promise();
  const [metadata] = await copy.getMetadata();
  assert.equal(metadata.sourceBackup, source.name.replace('{{projectId}}', metadata.sourceBackup.split('/')[1]));
  await source.delete();
  await table.delete();
  const [restored, restoring] = await copy.restore('again');
  await restoring.promise();
  assert.deepEqual(await read(restored), before);
  await copy.delete();
});

test('what cannot be is refused', async () => {
  const [table] = await writtenTable();
  await refused(newBackup(table, 'soon', 1), code.INVALID_ARGUMENT);
  await newBackup(table, 'twice', 8);
  await refused(newBackup(table, 'twice', 8), code.ALREADY_EXISTS);
  await refused(table.instance.cluster(CLUSTER).backup('none').restore('new'), code.NOT_FOUND);
});
