import type { Clock } from '../../../runtime/clock.ts';
import type { Logger } from '../../../runtime/logger.ts';
import type { SessionCounters } from '../session-counters.ts';
import type { SessionEvent } from '../session-events.ts';
import type { SessionNote } from '../worker-protocol.ts';
import type { HostedSession, SettledOrder } from './hosted-session.ts';

/** The log and the counters that take the notes of sessions. */
export interface SessionNotes {
  readonly clock: Pick<Clock, 'wallMs'>;
  readonly log: Logger;
  readonly counters: SessionCounters;
}

/** Notes a session's report: in its record, in the counters, and in the log if an operator should know it. */
export function noteEvent(
  { log, counters }: SessionNotes,
  session: HostedSession,
  event: SessionEvent,
): void {
  const sessionFields = aboutOf(session);
  if (event.type === 'session.inbound') {
    session.countReceived();
    counters.countReceived(event.content?.kind);
  }
  if (event.type === 'session.qr') session.enter('qr');
  if (event.type === 'session.pairing_code') session.enter('code');
  if (event.type === 'session.connected') {
    session.enter('open');
    log.info(sessionFields, 'a session is connected');
  }
  if (event.type === 'session.closed') {
    const { end, statusCode, detail, networkCode, waitMs } = event;
    session.enter('ended');
    counters.countEnd(end);
    const networkFields = networkCode === undefined ? {} : { networkCode, waitMs };
    log.warn({ ...sessionFields, end, statusCode, detail, ...networkFields }, 'a session ended');
  }
}

/** Takes a note for operators: shows it with the session, counts it and logs it. */
export function addSessionNote(
  { log, counters, clock }: SessionNotes,
  session: HostedSession,
  note: SessionNote,
): void {
  const sessionFields = aboutOf(session);
  switch (note.kind) {
    case 'offline_announced': {
      const { count: announced } = note;
      session.show({ offlineAnnounced: announced, offlineDrained: null });
      counters.countOffline('announced', announced);
      log.info({ ...sessionFields, announced }, 'the network announced the stanzas that waited');
      break;
    }
    case 'offline_drained': {
      const { announced, drained } = note;
      session.show({ offlineDrained: drained });
      counters.countOffline('drained', drained);
      log.info(
        { ...sessionFields, announced, drained },
        'the network says that all waiting stanzas have arrived',
      );
      break;
    }
    case 'offline_unfinished': {
      const { announced, drained } = note;
      session.show({ offlineDrained: drained });
      log.warn(
        { ...sessionFields, announced, drained },
        'the network does not send the rest of the waiting stanzas',
      );
      break;
    }
    case 'unanswered': {
      const { stanzaClass, stanzaType } = note;
      const unansweredAt = new Date(clock.wallMs()).toISOString();
      session.show({ unansweredStanza: [stanzaClass, stanzaType ?? ''].join(' ').trim(), unansweredAt });
      counters.countUnanswered(stanzaClass);
      log.error(
        { ...sessionFields, stanzaClass, stanzaType },
        'the network ended a session because an acknowledgement was missing',
      );
      break;
    }
    default:
      note satisfies never;
  }
}

/** Counts the outcome of an order. Logs it unless the network accepted the message or the number was wrong. */
export function noteOutcome(
  { log, counters }: SessionNotes,
  session: HostedSession,
  { messageId, outcome, generation }: SettledOrder,
): void {
  counters.countOutcome(outcome);
  if (outcome.kind === 'acknowledged' || outcome.kind === 'not_on_network') return;
  const { kind, ...details } = outcome;
  const sessionFields = { ...aboutOf(session), generation, messageId, outcome: kind, ...details };
  log.warn(sessionFields, 'a message was not acknowledged');
}

const aboutOf = ({ shop: { tenantId, shopId }, generation }: HostedSession) => ({
  tenantId,
  shopId,
  generation,
});
