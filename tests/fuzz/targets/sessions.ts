import assert from 'node:assert/strict';
import { encodeBinaryNode } from '@whiskeysockets/baileys';
import { newShop, pair } from '../../actors/sessions/conformance-network.ts';
import { type SimulatedNetwork, startSimulated } from '../../actors/sessions/simulated-network.ts';
import type { FuzzTarget, OpenTarget } from '../fuzz-target.ts';
import { strangersBytes, strangersStanza } from './inbound-forms.ts';

/** A contact from which nothing broken comes. */
const WELL_BEHAVED = '+33633333333';
/**
 * They take cases in turn. The client waits a quarter of a second before it asks for what it could not read, five times
 * a message. Meanwhile it reads nothing else of that session.
 */
const SESSIONS = 12;
/** After so many cases of all another session is opened: a short run has few. */
const CASES_A_SESSION = 30;
/** The number of cases of one session, after which a text must be read. */
const CASES_BETWEEN_LOOKS = 12;
/** The longest plaintext that is sealed: the simulator takes no longer one. */
const LONGEST_BYTES = 100_000;

/** Strangers write to sessions in a worker: each session stays, and goes on reading what others write. */
export const sessions: FuzzTarget = {
  name: 'sessions',
  async open() {
    let startedNetwork: SimulatedNetwork | undefined;
    const network = await startSimulated({
      listener(shop, event) {
        startedNetwork?.log.listener(shop, event);
        // The shop's actor does this once the message is committed.
        if (event.type === 'session.inbound')
          startedNetwork?.host.order(shop, { type: 'confirm', token: event.token });
      },
    });
    startedNetwork = network;
    try {
      return inTurn([await openSession(network, 0)], network);
    } catch (error) {
      await network.stop();
      throw error;
    }
  },
};

interface OpenSession {
  readonly phone: string;
  /** Counts a case; after some of them it looks whether the session goes on. */
  tried(): Promise<void>;
  /** Rejects where the session ended; resolves once it has read what somebody wrote. */
  look(): Promise<void>;
}

async function openSession(network: SimulatedNetwork, index: number): Promise<OpenSession> {
  const { control, log, host } = network;
  const phone = `+3361111${1_000 + index}`;
  const shop = newShop();
  const scan = async (_shop: unknown, qr: string): Promise<void> => void (await control.scan(qr, phone));
  await pair({ ...network, scan }, shop);
  host.order(shop, { type: 'set_inbound_mode', inbound: 'texts' });
  const closedBefore = log.all(shop, 'session.closed').length;
  let cases = 0;
  const look = async (): Promise<void> => {
    const text = `still here ${cases}`;
    await control.write(WELL_BEHAVED, { to: phone, text, wait: false });
    await log.next(shop, 'session.inbound', (event) => event.text === text);
    const closed = log.all(shop, 'session.closed').slice(closedBefore);
    assert.deepEqual(closed, [], 'the session ended');
  };
  return {
    phone,
    look,
    async tried() {
      cases += 1;
      if (cases % CASES_BETWEEN_LOOKS === 0) await look();
    },
  };
}

function inTurn(openSessions: OpenSession[], network: SimulatedNetwork): OpenTarget {
  const { control, stop } = network;
  let cases = 0;
  return {
    async tryCase(draw, note) {
      const wanted = Math.min(SESSIONS, 1 + Math.floor(cases / CASES_A_SESSION));
      if (openSessions.length < wanted) openSessions.push(await openSession(network, openSessions.length));
      const session = openSessions[cases % openSessions.length];
      assert.ok(session);
      const { phone } = session;
      cases += 1;
      if (draw.isOneIn(2)) {
        const stanza = strangersStanza(draw);
        note(stanza);
        await control.sendFrame(phone, encodeBinaryNode(stanza));
      } else {
        const bytes = strangersBytes(draw).subarray(0, LONGEST_BYTES);
        const padding = 1 + draw.int(16);
        const sealed = Buffer.concat([bytes, Buffer.alloc(padding, padding)]).toString('base64');
        note({ sealed });
        const from = `+3362222${draw.int(20) + 1_000}`;
        await control.write(from, { to: phone, text: 'in its place', sealed, wait: false });
      }
      await session.tried();
    },
    async close() {
      try {
        await Promise.all(openSessions.map(({ look }) => look()));
      } finally {
        await stop();
      }
    },
  };
}
