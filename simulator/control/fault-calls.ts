import * as v from 'valibot';
import { unlink } from '../linking/unlinking.ts';
import type { Network } from '../network.ts';
import { ControlFailure } from './control-failure.ts';
import { flag, oneOf, phone, text, texts, wholeNumber } from './control-input.ts';
import { type ControlRoute, route } from './control-server.ts';
import {
  COUNTED_FAULTS,
  type CountedFault,
  FAULT_KINDS,
  type FaultKind,
  LIVE_FAULTS,
  type LiveFault,
  LOGIN_FAULTS,
  type LoginFault,
} from './faults.ts';

/** The result of a fault: the number of live connections that it hit, and of later events for which it is armed. */
export interface FaultResult {
  readonly kind: FaultKind;
  readonly hit: number;
  readonly armed: number;
}

/** The number of later events that meet a fault. */
const count = v.optional(wholeNumber(0, 1_000_000), 1);
const code = wholeNumber(100, 999);
const backoff = v.optional(wholeNumber(0, 1_000_000_000), 0);
const REFUSAL = { phone, code: v.optional(code, 429), text: v.optional(text(100)), count };
/** The fields of a refusal of queries. */
export const QUERY_ERROR = { ...REFUSAL, xmlns: text(60) };
/** The fields of an error inside the result of usync queries. */
export const USYNC_ERROR = { ...REFUSAL, protocol: oneOf(['contact', 'devices', 'lid']), backoff };
/** The fields of a failure of logins. */
export const LOGIN_FAILURE = {
  phone,
  reason: wholeNumber(400, 599),
  attributes: v.optional(texts(500), {}),
  count,
};

/** Returns the control calls that make the network refuse or fail something. */
export function faultRoutes(network: Network): ControlRoute[] {
  const { faults } = network;
  return [
    route('PUT /numbers/{phone}/keys', { phone, error: wholeNumber(0, 999) }, (input) => {
      faults.arm('keys', input.phone, input.error, input.error === 0 ? 0 : Infinity);
      return { data: { phone: `+${input.phone}`, error: input.error } };
    }),
    route('PUT /numbers/{phone}/passkey', { phone, required: flag }, (input) => {
      faults.arm('passkey', input.phone, true, input.required ? Infinity : 0);
      return { data: { phone: `+${input.phone}`, required: input.required } };
    }),
    route('POST /sessions/{phone}/fault', { phone, kind: oneOf(FAULT_KINDS), count }, (input) => ({
      data: inflict(network, input),
    })),
    route('POST /sessions/{phone}/ack-errors', { phone, code, count }, ({ phone, ...refusal }) => {
      faults.arm('message', phone, refusal.code, refusal.count);
      return { data: refusal };
    }),
    route('POST /sessions/{phone}/query-errors', QUERY_ERROR, ({ phone, ...input }) => {
      const refusal = { ...input, text: textOf(input) };
      faults.arm('query', `${phone} ${input.xmlns}`, refusal, input.count);
      return { data: refusal };
    }),
    route('POST /sessions/{phone}/usync-errors', USYNC_ERROR, ({ phone, ...input }) => {
      const refusal = { ...input, text: textOf(input) };
      const error = { ...refusal, backoff: input.backoff || undefined };
      faults.arm('usync', `${phone} ${input.protocol}`, error, input.count);
      return { data: refusal };
    }),
    route('POST /sessions/{phone}/login-failures', LOGIN_FAILURE, ({ phone, ...failure }) => {
      const { reason: code, attributes, count } = failure;
      faults.arm('login', phone, { code, attributes }, count);
      const liveConnections = network.connections.ofAll(network.companions.of(phone));
      if (count > 0) for (const connection of liveConnections) connection.drop();
      return { data: failure };
    }),
  ];
}

/** Returns the text of a refusal. The default for 429 is the network's own. */
const textOf = ({ code, text }: { code: number; text?: string | undefined }): string =>
  text ?? (code === 429 ? 'rate-overlimit' : 'refused');

/**
 * Inflicts a fault on a number. A fault for later logins or upgrades also cuts the live connections, so that their
 * clients meet it. Throws `ControlFailure` 409 if the kind needs a live connection or a companion, and there is none.
 */
function inflict(network: Network, options: { phone: string; kind: FaultKind; count: number }): FaultResult {
  const { phone, kind, count } = options;
  const liveConnections = network.connections.ofAll(network.companions.of(phone));
  network.log({ event: 'fault', kind, phone, count });
  if (kind === 'logged_out') return { kind, hit: logOut(network, phone), armed: 0 };
  if (isCounted(kind)) {
    network.faults.arm(kind, phone, COUNTED_FAULTS[kind], count);
    return { kind, hit: 0, armed: count };
  }
  if (kind === 'refuse_upgrade' || isLoginFault(kind)) {
    if (kind === 'refuse_upgrade') network.faults.arm('upgrade', '', true, count);
    else network.faults.arm('login', phone, { code: LOGIN_FAULTS[kind], attributes: {} }, count);
    if (count > 0) for (const connection of liveConnections) connection.drop();
    return { kind, hit: count > 0 ? liveConnections.length : 0, armed: count };
  }
  if (liveConnections.length === 0)
    throw new ControlFailure(409, 'NOT_CONNECTED', `No client of +${phone} is connected.`);
  for (const connection of liveConnections) {
    if (kind !== 'hears') {
      LIVE_FAULTS[kind satisfies LiveFault](connection);
    } else {
      connection.hearing = 'full';
      // Stanzas that were held back for the connection are delivered at once.
      if (connection.companion !== undefined) network.deliveries.flush(connection, connection.companion);
    }
  }
  return { kind, hit: liveConnections.length, armed: 0 };
}

function logOut(network: Network, phone: string): number {
  const companions = network.companions.of(phone);
  if (companions.length === 0) throw new ControlFailure(409, 'NOT_LINKED', `+${phone} has no companion.`);
  for (const companion of companions) unlink(network, companion);
  return companions.length;
}

const isCounted = (kind: FaultKind): kind is CountedFault => kind in COUNTED_FAULTS;

const isLoginFault = (kind: FaultKind): kind is LoginFault => kind in LOGIN_FAULTS;
