import assert from 'node:assert/strict';
import { until } from '../../testbed/waiting.ts';
import { type ConformanceNetwork, pairedPromiseOf } from './conformance-network.ts';

const PERSON = '+33622222222';

/** Checks the promises of every implementation of the session port about messages that people write. */
export function inboundConformance(name: string, start: () => Promise<ConformanceNetwork>): void {
  const promise = pairedPromiseOf(name, start);

  promise(
    'an inbound message waits for its confirmation before its receipt goes out',
    async (network, shop) => {
      const { host, log } = network;
      const written = network.write(shop, PERSON, 'STOP');
      const inbound = await log.next(shop, 'session.inbound');
      assert.deepEqual([inbound.from, inbound.text, inbound.generation], [PERSON, 'STOP', 2]);
      assert.equal(await Promise.race([written, Promise.resolve('waiting')]), 'waiting');
      host.order(shop, { type: 'confirm', token: inbound.token });
      assert.equal(await written, true);
    },
  );

  promise(
    'a message that is marked as read is shown so to the person who wrote it',
    async (network, shop) => {
      const { host, log } = network;
      const written = network.write(shop, PERSON, 'bonjour');
      const { token, from, wireId } = await log.next(shop, 'session.inbound');
      host.order(shop, { type: 'confirm', token });
      await written;
      assert.deepEqual(await network.markedRead(shop, PERSON), []);
      host.order(shop, { type: 'mark_read', from, wireId });
      const marked = async (): Promise<boolean> => (await network.markedRead(shop, PERSON)).length > 0;
      await until('a message is marked as read', marked);
      assert.deepEqual(await network.markedRead(shop, PERSON), [wireId]);
    },
  );

  promise('the content of a message is reported from a change of the mode on', async (network, shop) => {
    const { host, log } = network;
    for (const [mode, text, kind] of [
      ['none', 'one', undefined],
      ['texts', 'two', 'text'],
      ['none', 'three', undefined],
    ] as const) {
      host.order(shop, { type: 'set_inbound_mode', inbound: mode });
      const written = network.write(shop, PERSON, text);
      const inbound = await log.next(shop, 'session.inbound');
      assert.deepEqual([inbound.text, inbound.content?.kind], [text, kind]);
      host.order(shop, { type: 'confirm', token: inbound.token });
      await written;
    }
  });
}
