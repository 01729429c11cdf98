import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CommitTrouble } from '../../../runtime/redis/commit-trouble.ts';
import { FakeClock } from '../../testbed/fake-clock.ts';
import { QuietLog } from '../../testbed/quiet-log.ts';

const full = 'Redis is full';
const readOnly = 'Redis is read-only';

function trouble() {
  const clock = new FakeClock();
  const log = new QuietLog();
  return { clock, log, trouble: new CommitTrouble(clock, log) };
}

test('while one part of Redis refuses commits and another takes them it is logged once, and once that all are taken again', () => {
  const { log, trouble: told } = trouble();
  for (let commit = 0; commit < 100; commit += 1) {
    told.noteRefused(1, full);
    told.noteRefused(2, full);
    told.noteRefused(3, readOnly);
    told.noteAccepted(4);
  }
  assert.deepEqual(log.errors.length, 2, 'each trouble once');
  assert.deepEqual(log.infos, []);
  told.noteAccepted(1);
  told.noteAccepted(2);
  assert.deepEqual(log.infos, [], 'one still refuses');
  told.noteAccepted(3);
  told.noteAccepted(4);
  assert.deepEqual(log.infos, ['Redis accepts commits again']);
  told.noteRefused(1, full);
  assert.equal(log.errors.length, 3, 'a second trouble is logged, too');
});

test('a part without further writes does not keep the trouble from ending', async () => {
  const { clock, log, trouble: told } = trouble();
  told.noteRefused(1, full);
  told.noteRefused(2, full);
  told.noteAccepted(2);
  assert.deepEqual(log.infos, []);
  await clock.advance(61_000);
  told.noteAccepted(2);
  assert.deepEqual(log.infos, ['Redis accepts commits again']);
});

test('a commit that is taken when there was no trouble logs nothing', () => {
  const { log, trouble: told } = trouble();
  told.noteAccepted(1);
  assert.deepEqual([log.infos, log.errors], [[], []]);
});
