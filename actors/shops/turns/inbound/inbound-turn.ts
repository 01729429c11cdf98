import type { SessionEventOf } from '../../../sessions/session-events.ts';
import type { NumberVault } from '../../records/number-vault.ts';
import { afterMessage } from '../../records/writer.ts';
import { stopBatchesOfOptOut } from '../batches/stop-batch.ts';
import type { TurnBuilder } from '../builder/turn-builder.ts';
import { linkLid } from '../people/stored-writer.ts';
import { startNotices } from '../pool/opt-out-notices.ts';
import { storeWriterAndOptOut } from './apply-opt-out.ts';
import type { InboundFacts } from './inbound-facts.ts';
import { publishInbound } from './publish-inbound.ts';

/** The turn on an inbound message. Its commit precedes the acknowledgement to the network. */
export function onInbound(
  builder: TurnBuilder,
  event: SessionEventOf<'session.inbound'>,
  { received: facts }: { readonly received: InboundFacts },
  { vault }: { readonly vault: NumberVault },
): void {
  const { writtenBy, carriedFor = [] } = facts;
  if (facts.lidToLink !== undefined) linkLid(builder, facts.lidToLink, facts);
  publishInbound(builder, event, facts.event, vault);
  // A reaction is published, but it is not a message: it must not cancel a STOP.
  const isMessage = event.content?.kind !== 'reaction';
  const message = { ...event, optedOut: facts.optsOut };
  const writer = isMessage ? afterMessage(facts.writer, message, builder.nowMs) : undefined;
  if (writer !== undefined) {
    storeWriterAndOptOut(builder, facts, writer);
    if (writer.optedOut) {
      stopBatchesOfOptOut(builder, writtenBy);
      startNotices(builder, { ...event, from: writtenBy }, carriedFor);
    }
  }
  builder.perform({ type: 'confirm', token: event.token });
}
