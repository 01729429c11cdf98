import assert from 'node:assert/strict';
import { encodeBinaryNode } from '@whiskeysockets/baileys';
import { newShop, pair, SHOP_PHONE } from '../../session/session-conformance.ts';
import { type SimulatedNetwork, startSimulated } from '../../session/simulated-network.ts';
import type { FuzzTarget, OpenTarget } from '../fuzz-target.ts';
import { strangersBytes, strangersStanza } from './inbound-forms.ts';

/** A contact from which nothing broken comes. */
const WELL_BEHAVED = '+33633333333';
/** So many cases, then a text that must be read. */
const CASES_BETWEEN_LOOKS = 25;
/** The longest plaintext that is sealed: the simulator takes no longer one. */
const LONGEST_BYTES = 100_000;

/** Strangers write to a session in a worker: the session stays, and goes on reading what others write. */
export const sessions: FuzzTarget = {
  name: 'sessions',
  async open() {
    let started: SimulatedNetwork | undefined;
    const network = await startSimulated({
      listener(shop, event) {
        started?.log.listener(shop, event);
        // The shop's actor does this once the message is committed.
        if (event.type === 'session.inbound') started?.host.confirmInbound(shop, event.token);
      },
    });
    started = network;
    try {
      return await openSession(network);
    } catch (error) {
      await network.stop();
      throw error;
    }
  },
};

async function openSession(network: SimulatedNetwork): Promise<OpenTarget> {
  const { control, log, host } = network;
  const shop = newShop();
  await pair(network, shop);
  host.hearInbound(shop, 'texts');
  const closedBefore = log.all(shop, 'session.closed').length;
  let cases = 0;
  const look = async (): Promise<void> => {
    const text = `still here ${cases}`;
    await control.write(WELL_BEHAVED, { to: SHOP_PHONE, text, wait: false });
    await log.next(shop, 'session.inbound', (event) => event.text === text);
    const closed = log.all(shop, 'session.closed').slice(closedBefore);
    assert.deepEqual(closed, [], 'the session ended');
  };
  return {
    async tryCase(draw, note) {
      if (draw.isOneIn(2)) {
        const stanza = strangersStanza(draw);
        note(stanza);
        await control.sendFrame(SHOP_PHONE, encodeBinaryNode(stanza));
      } else {
        const bytes = strangersBytes(draw).subarray(0, LONGEST_BYTES);
        const padding = 1 + draw.int(16);
        const sealed = Buffer.concat([bytes, Buffer.alloc(padding, padding)]).toString('base64');
        note({ sealed });
        const from = `+3362222${draw.int(20) + 1_000}`;
        await control.write(from, { to: SHOP_PHONE, text: 'in its place', sealed, wait: false });
      }
      cases += 1;
      if (cases % CASES_BETWEEN_LOOKS === 0) await look();
    },
    async close() {
      try {
        await look();
      } finally {
        await network.stop();
      }
    },
  };
}
