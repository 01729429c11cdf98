/**
 * The stored names of a shop's pacing and of its messages at the pool. Nodes of 0.2.0 read and write the same ones, but
 * not `startsChat`.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeMachines, restoreMachines } from '../../../actors/shops/machines/shop-machines.ts';
import { decodePooled, encodePooled } from '../../../actors/shops/state/pooled-message.ts';

/** The machines of a shop with this stored pacing. */
const machinesText = (pacing: string): string =>
  `{"version":2,"channel":{"value":"unconfigured","context":{}},"pacing":${pacing}}`;

test('the pacing of a gap has a message that could not be prepared, and keeps its stored names', () => {
  const text = machinesText(
    '{"value":"gap","context":{"hand":null,"untilMs":9,"heldByOperator":false,"pausedForMs":1,' +
      '"unsent":{"messageId":"m","times":2}}}',
  );
  const machines = restoreMachines(text);
  assert.deepEqual(machines.pacing, {
    value: 'gap',
    context: {
      currentMessage: null,
      untilMs: 9,
      heldByOperator: false,
      pausedForMs: 1,
      unprepared: { messageId: 'm', times: 2 },
    },
  });
  assert.equal(encodeMachines(machines, 1), text);
});

test('the pacing of a message on the wire has the message, and keeps its stored names', () => {
  const text = machinesText(
    '{"value":"sending","context":{"hand":{"messageId":"m","kind":"message","to":"+33600000002",' +
      '"startsChat":true},"untilMs":9,"heldByOperator":true}}',
  );
  const machines = restoreMachines(text);
  assert.deepEqual(machines.pacing, {
    value: 'sending',
    context: {
      currentMessage: { messageId: 'm', kind: 'message', to: '+33600000002', startsChat: true },
      untilMs: 9,
      heldByOperator: true,
    },
  });
  assert.equal(encodeMachines(machines, 1), text);
});

test('a message at the pool keeps its stored names', () => {
  const text = '{"to":"+33600000002","createdAtMs":1,"pool":{"tenantId":"t","shopId":"s"},"taken":true}';
  const messages = decodePooled(['m', text], () => 7);
  assert.deepEqual(messages, [
    {
      messageId: 'm',
      to: '+33600000002',
      createdAtMs: 1,
      pool: { tenantId: 't', shopId: 's' },
      isTaken: true,
      place: 7,
      askAtMs: 0,
    },
  ]);
  assert.deepEqual(messages.map(encodePooled), [text]);
});
