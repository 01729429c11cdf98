import { FieldReader } from './control-input.ts';
import type { ControlReply, ControlRequest, ControlRoute } from './control-server.ts';
import type { Network } from './network.ts';
import { announceQuota, announceTimelock } from './number-limit-stanzas.ts';
import { CAPPING_STATUSES } from './number-limits.ts';

/** The longest time a restriction or a cycle can be given. */
const LONGEST_SECONDS = 10 * 365 * 86_400;
const WEEK_SECONDS = 7 * 86_400;

/** The control calls that restrict a number, and give it a quota of new chats. */
export function numberLimitRoutes(network: Network): ControlRoute[] {
  return [
    {
      method: 'PUT',
      path: '/numbers/{phone}/restriction',
      handle: (request) => restrict(network, request),
    },
    { method: 'PUT', path: '/numbers/{phone}/new-chats', handle: (request) => limit(network, request) },
  ];
}

function restrict(network: Network, { path, body }: ControlRequest): ControlReply {
  const fields = new FieldReader({ ...body, phone: path.phone });
  const phone = fields.phone('phone');
  const active = fields.flag('active');
  const kind = fields.text('kind', { most: 100, fallback: 'RESTRICT_ALL_COMPANIONS' });
  const namesEnd = fields.flag('namesEnd', true);
  const seconds = fields.whole('endsInSeconds', { least: 1, most: LONGEST_SECONDS, fallback: WEEK_SECONDS });
  const announces = fields.flag('announce', true);
  fields.check();
  const endsAt = namesEnd ? inSeconds(network, seconds) : null;
  network.limits.restrict(phone, active ? { kind, endsAt } : null);
  if (announces) announceTimelock(network, phone);
  return { data: { phone: `+${phone}`, restriction: network.limits.timelock(phone) } };
}

function limit(network: Network, { path, body }: ControlRequest): ControlReply {
  const fields = new FieldReader({ ...body, phone: path.phone });
  const phone = fields.phone('phone');
  const total = fields.whole('quota', { least: 0, most: 1_000_000 });
  const used = fields.whole('used', { least: 0, most: 1_000_000, fallback: 0 });
  const status = fields.oneOf('status', CAPPING_STATUSES, 'NONE');
  const seconds = fields.whole('endsInSeconds', { least: 1, most: LONGEST_SECONDS, fallback: WEEK_SECONDS });
  const announces = fields.flag('announce', true);
  fields.check();
  network.limits.limit(phone, { total, used, status, cycleEndsAt: inSeconds(network, seconds) });
  if (announces) announceQuota(network, phone);
  return { data: { phone: `+${phone}`, newChats: network.limits.quota(phone) } };
}

function inSeconds({ clock }: Network, seconds: number): number {
  return Math.floor(clock.wallMs() / 1000) + seconds;
}
