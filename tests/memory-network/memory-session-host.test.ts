import { systemClock } from '../../runtime/clock.ts';
import type { ConformanceNetwork } from '../actors/sessions/conformance-network.ts';
import { inboundConformance } from '../actors/sessions/inbound-conformance.ts';
import { limitsConformance } from '../actors/sessions/limits-conformance.ts';
import { releasingActor } from '../actors/sessions/releasing-actor.ts';
import { sessionConformance } from '../actors/sessions/session-conformance.ts';
import { SessionLog } from '../actors/sessions/session-log.ts';
import { MemorySessionHost } from '../testbed/memory-network/memory-session-host.ts';

const TEXT = { kind: 'text', name: null, quotes: null, media: null } as const;

async function startInMemory(): Promise<ConformanceNetwork> {
  const log = new SessionLog();
  const removed = new Set<string>();
  const forms = new Map<string, string>();
  const actor = releasingActor(log.listener, { host: () => host });
  const host: MemorySessionHost = new MemorySessionHost({
    clock: systemClock,
    listener: actor.listener,
    behaviour: { exists: (to) => !removed.has(to), knownAs: (to) => forms.get(to) ?? to },
  });
  return {
    host,
    log,
    actor,
    async scan(shop, _qr, phone) {
      host.scan(shop, phone);
    },
    async typeCode(shop, code, phone) {
      host.typeCode(shop, code, phone);
    },
    async refuseCode(_shop, phone, status) {
      host.behave({ codeRefusal: (asked) => (`+${asked}` === phone ? status : undefined) });
    },
    write: (shop, from, text) => host.inbound(shop, { from, text, content: { ...TEXT, text } }),
    async markedRead(shop, writer) {
      return host
        .markedRead(shop)
        .filter(({ from }) => from === writer)
        .map(({ wireId }) => wireId);
    },
    async received(shop, recipient) {
      return host
        .sent(shop)
        .filter(({ to }) => to === recipient)
        .map(({ text }) => text ?? '');
    },
    async remove(number) {
      removed.add(number);
    },
    async addForm(number, form) {
      forms.set(form, number);
    },
    async meets(_shop, problem) {
      host.behave({
        outcome: () => {
          host.behave({ outcome: () => ({ kind: 'acknowledged' }) });
          if (problem === 'no_ack') return 'silent';
          return problem.ackError === '429'
            ? { kind: 'rate_limited' }
            : { kind: 'refused', code: problem.ackError };
        },
      });
    },
    async drop(shop, end) {
      host.drop(shop, end);
    },
    async setGroup(shop, { id, name, members, admin }) {
      host.setGroups(shop, [{ id, name, participantCount: members, isAdmin: admin, announce: false }]);
    },
    async restrict(shop, restriction) {
      host.tellLimits(shop, { restriction });
    },
    async limitNewChats(shop, newChats) {
      host.tellLimits(shop, { newChats });
    },
    async loseWorker(shop) {
      host.loseWorker(shop);
    },
    stop: () => host.stop(),
  };
}

sessionConformance('in memory', startInMemory);
limitsConformance('in memory', startInMemory);
inboundConformance('in memory', startInMemory);
