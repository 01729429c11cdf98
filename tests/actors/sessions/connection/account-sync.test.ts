/** A session asks for the one collection of its account's settings that contains the name. */
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';
import type { BinaryNode, WASocket } from '@whiskeysockets/baileys';
import {
  followAccount,
  skipCollections,
} from '../../../../actors/sessions/worker-thread/connection/client-socket.ts';
import type { SessionContext } from '../../../../actors/sessions/worker-thread/shared/session-context.ts';
import { fakeOf } from '../../../testbed/fake-of.ts';

test('when the phone gives its key, the collection with the account’s name is fetched, and no other', () => {
  const asked: unknown[] = [];
  const ev = new EventEmitter();
  const resyncAppState: WASocket['resyncAppState'] = async (...about) => void asked.push(about);
  const context = fakeOf<SessionContext>({ logFailure: () => () => undefined });
  followAccount(context, { ev: ev as unknown as WASocket['ev'], resyncAppState });
  ev.emit('creds.update', { me: { id: 'a' } });
  ev.emit('creds.update', { myAppStateKeyId: 'key' });
  assert.deepEqual(asked, [[['critical_block'], true]]);
});

test('only the collection with the account’s name reaches the client out of those that a notification names', () => {
  const notification = (...names: string[]): BinaryNode => ({
    tag: 'notification',
    attrs: { type: 'server_sync' },
    content: names.map((name) => ({ tag: 'collection', attrs: { name } })),
  });
  const frame = notification('regular', 'critical_block', 'regular_high');
  skipCollections(frame);
  assert.deepEqual(frame, notification('critical_block'));
});
