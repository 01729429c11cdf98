import * as v from 'valibot';
import { flag, oneOf, phone, text, wholeNumber } from '../control/control-input.ts';
import { type ControlRoute, route } from '../control/control-server.ts';
import type { Network } from '../network.ts';
import { announceQuota, announceTimelock } from './number-limit-stanzas.ts';
import { CAPPING_STATUSES } from './number-limits.ts';

/** The longest duration of a restriction or a cycle. */
const LONGEST_SECONDS = 10 * 365 * 86_400;
const WEEK_SECONDS = 7 * 86_400;
const endsInSeconds = v.optional(wholeNumber(1, LONGEST_SECONDS), WEEK_SECONDS);
/** False if the number's clients are notified only when they ask. */
const announce = v.optional(flag, true);

/** The fields of a restriction. */
export const RESTRICTION = {
  phone,
  active: flag,
  kind: v.optional(text(100), 'RESTRICT_ALL_COMPANIONS'),
  /** False if the server names no end. */
  namesEnd: v.optional(flag, true),
  endsInSeconds,
  announce,
};
/** The fields of a quota of new chats. */
export const NEW_CHATS = {
  phone,
  quota: wholeNumber(0, 1_000_000),
  used: v.optional(wholeNumber(0, 1_000_000), 0),
  status: v.optional(oneOf(CAPPING_STATUSES), 'NONE'),
  endsInSeconds,
  announce,
};

/** Returns the control calls that restrict a number, and that give it a quota of new chats. */
export function numberLimitRoutes(network: Network): ControlRoute[] {
  const { limits } = network;
  return [
    route('PUT /numbers/{phone}/restriction', RESTRICTION, (input) => {
      const endsAt = input.namesEnd ? inSeconds(network, input.endsInSeconds) : null;
      limits.restrict(input.phone, input.active ? { kind: input.kind, endsAt } : null);
      if (input.announce) announceTimelock(network, input.phone);
      return { data: { phone: `+${input.phone}`, restriction: limits.timelock(input.phone) } };
    }),
    route('PUT /numbers/{phone}/new-chats', NEW_CHATS, (input) => {
      const { quota: total, used, status } = input;
      limits.limit(input.phone, {
        total,
        used,
        status,
        cycleEndsAt: inSeconds(network, input.endsInSeconds),
      });
      if (input.announce) announceQuota(network, input.phone);
      return { data: { phone: `+${input.phone}`, newChats: limits.quota(input.phone) } };
    }),
  ];
}

function inSeconds({ clock }: Network, seconds: number): number {
  return Math.floor(clock.wallMs() / 1_000) + seconds;
}
