/** How the client's own reader takes errors inside the answer to a usync query. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type BinaryNode, USyncQuery } from '@whiskeysockets/baileys';
import { spellOutErrors } from '../../../../actors/sessions/worker-thread/wire/usync-errors.ts';

const refusedNode: BinaryNode = { tag: 'error', attrs: { code: '404', text: 'item-not-found' } };
const phone: BinaryNode = {
  tag: 'device-list',
  attrs: {},
  content: [{ tag: 'device', attrs: { id: '0' } }],
};

/** Returns an answer with a row for each person, with these devices. */
function answerOf(devices: { readonly [jid: string]: BinaryNode }): BinaryNode {
  const rows = Object.entries(devices).map(([jid, reportedNode]) => ({
    tag: 'user',
    attrs: { jid },
    content: [{ tag: 'devices', attrs: {}, content: [reportedNode] }],
  }));
  const list = { tag: 'list', attrs: {}, content: rows };
  const usync = { tag: 'usync', attrs: {}, content: [{ tag: 'result', attrs: {}, content: [] }, list] };
  return { tag: 'iq', attrs: { type: 'result' }, content: [usync] };
}

const read = (answer: BinaryNode) => {
  spellOutErrors(answer);
  return new USyncQuery().withDeviceProtocol().parseUSyncQueryResult(answer);
};

test('a row with an error does not affect the other people of the query', () => {
  const foundResult = read(answerOf({ 'a@lid': phone, 'b@lid': refusedNode, 'c@lid': phone }));
  assert.deepEqual(
    foundResult?.list.map(({ id, devices }) => [id, devices === undefined]),
    [
      ['a@lid', false],
      ['b@lid', true],
      ['c@lid', false],
    ],
  );
});

test('an error stays one if no other number was asked about, or all rows are errors', () => {
  assert.throws(() => read(answerOf({ 'a@lid': refusedNode })));
  assert.throws(() => read(answerOf({ 'a@lid': refusedNode, 'b@lid': refusedNode })));
});

// Shape: oxidezap/whatsapp-rust, wacore/src/iq/usync.rs (`is_on_whatsapp_preserves_user_subprotocol_errors`).
test('errors of some protocols in a row leave the answers of the others, and no answer is neither yes nor no', () => {
  const error = (code: string): BinaryNode => ({ tag: 'error', attrs: { code, text: 'refused' } });
  const part = (tag: string, attrs: Record<string, string>, content: BinaryNode[] = []): BinaryNode => ({
    tag,
    attrs,
    content,
  });
  const rows = {
    'there@s.whatsapp.net': [
      part('contact', { type: 'in' }),
      part('lid', {}, [error('404')]),
      part('business', {}, [error('500')]),
    ],
    'refused@s.whatsapp.net': [part('contact', {}, [error('403')]), part('lid', {}, [error('404')])],
    'nowhere@s.whatsapp.net': [part('contact', { type: 'out' })],
  };
  const users = Object.entries(rows).map(([jid, parts]) => part('user', { jid }, parts));
  const usync = part('usync', {}, [part('result', {}), part('list', {}, users)]);
  const answer = part('iq', { type: 'result' }, [usync]);
  spellOutErrors(answer);
  const foundResult = new USyncQuery().withContactProtocol().withLIDProtocol().parseUSyncQueryResult(answer);
  assert.deepEqual(
    foundResult?.list.map(({ id, contact, lid }) => [id, contact, lid]),
    [
      // An error about the id reads as an empty id. It does not mean that the person has none.
      ['there@s.whatsapp.net', true, ''],
      ['refused@s.whatsapp.net', undefined, ''],
      ['nowhere@s.whatsapp.net', false, undefined],
    ],
  );
});
