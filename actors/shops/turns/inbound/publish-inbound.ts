import type { SessionEventOf } from '../../../sessions/session-events.ts';
import { inboundExpiry, inboundWrite } from '../../records/inbound-records.ts';
import { dayEndsMs, dayOf, firstIdOfDay } from '../../records/message-days.ts';
import type { NumberVault } from '../../records/number-vault.ts';
import { oncePerDay } from '../builder/once-per-day.ts';
import type { TurnBuilder } from '../builder/turn-builder.ts';
import { type EventFacts, receivedMark } from './inbound-facts.ts';

/**
 * Publishes an inbound message to the tenant, once. One commit has the record, the event and the mark that detects a
 * repeated stanza. The commit precedes the acknowledgement to the network.
 */
export function publishInbound(
  builder: TurnBuilder,
  event: SessionEventOf<'session.inbound'>,
  facts: EventFacts | undefined,
  vault: NumberVault,
): void {
  const { content } = event;
  const { state, nowMs } = builder;
  if (facts === undefined || facts.isReceived || content === undefined || state.inbound === 'none') return;
  const { person, number = null, lid = null, quotedMessageId } = facts;
  const id = builder.makeId();
  const withTexts = state.inbound === 'texts';
  const record = {
    id,
    ...state.shop,
    fromId: person.id,
    from: number,
    lid,
    name: content.name,
    atMs: event.atMs,
    kind: content.kind,
    text: withTexts ? content.text : null,
    replyTo: quotedMessageId,
    media: withTexts ? content.media : null,
    wireId: event.wireId,
  };
  builder.write(
    inboundWrite(state.shard, record, vault),
    ['ZADD', state.keys.inbound, 0, id],
    ['ZADD', state.keys.inboundReceived, nowMs, receivedMark(person.id, event.wireId)],
    ...person.writes,
  );
  expireOncePerDay(builder, id);
  builder.publishMessage('message.received', id);
}

/**
 * Once a day and actor, expires the day's records and drops older data from the shop's indexes and the tenant's people.
 */
function expireOncePerDay(builder: TurnBuilder, id: string): void {
  const { nowMs, retentionMs, state } = builder;
  const { keys, people, shard } = state;
  const day = dayOf(nowMs);
  if (!oncePerDay(builder, 'inboundDay', day)) return;
  const oldestDay = dayOf(nowMs - retentionMs);
  const peopleEndMs = dayEndsMs(day + 1, retentionMs);
  builder.write(
    inboundExpiry(shard, id, retentionMs),
    ['ZREMRANGEBYLEX', keys.inbound, '-', `(${firstIdOfDay(oldestDay)}`],
    ['ZREMRANGEBYSCORE', keys.inboundReceived, '-inf', nowMs - retentionMs],
    // After a smaller retention, the ids stay as long as the messages that were accepted before. Redis has no option
    // for both cases: without an expiry, and with an earlier one.
    ['PEXPIREAT', people.personIds, peopleEndMs, 'NX'],
    ['PEXPIREAT', people.personIds, peopleEndMs, 'GT'],
  );
  // Messages of a day are gone a day later than that.
  builder.perform({ type: 'forget_people', oldestDay: oldestDay - 1, today: day });
}
