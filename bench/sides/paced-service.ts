/**
 * A node as service/service.ts composes it, with the real client. Its shops count as paired 20 days ago: they are warm.
 * `--composing-ms=0`: how long composing is shown, a quarter up or down, whatever the text.
 */

import { parseArgs } from 'node:util';
import type { SessionListener } from '../../actors/sessions/session-host.ts';
import { DAY_MS } from '../../runtime/durations.ts';
import { startSessions } from '../../service/start-sessions.ts';
import { announceNode, startNode } from './started-node.ts';

const { values } = parseArgs({ options: { 'composing-ms': { type: 'string' } } });
const WARM_MS = 20 * DAY_MS;
const warming =
  (listener: SessionListener): SessionListener =>
  (shop, event) =>
    listener(
      shop,
      event.type === 'session.connected' ? { ...event, pairedAtMs: event.pairedAtMs - WARM_MS } : event,
    );

const composing = values['composing-ms'];
const timing = composing === undefined ? {} : { composeFloorMs: Number(composing), composePerCharacterMs: 0 };
const node = await startNode((options) =>
  startSessions({ ...options, listener: warming(options.listener), timing }),
);
announceNode(node);
