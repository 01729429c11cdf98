import type { Connection } from './connection.ts';
import { ControlFailure } from './control-failure.ts';
import { type FaultKind, LIVE_FAULTS, type LiveFault, LOGIN_FAULTS, type LoginFault } from './faults.ts';
import type { Network } from './network.ts';
import { unlink } from './unlinking.ts';

/** What a fault did: how many live connections it hit, and how many events to come it is armed for. */
export interface FaultResult {
  readonly kind: FaultKind;
  readonly hit: number;
  readonly armed: number;
}

/**
 * Inflicts a fault on a number. What is for logins and upgrades to come also cuts the live connections, so that
 * their clients meet it.
 * @throws ControlFailure 409 when the kind needs a live connection, or a companion, and there is none.
 */
export function inflict(
  network: Network,
  options: { phone: string; kind: FaultKind; count: number },
): FaultResult {
  const { phone, kind, count } = options;
  const live = network.connections.ofAll(network.companions.of(phone));
  network.log({ event: 'fault', kind, phone, count });
  if (kind === 'logged_out') return { kind, hit: logOut(network, phone), armed: 0 };
  if (isArmed(kind)) {
    armFor(network, kind, { phone, count });
    return { kind, hit: 0, armed: count };
  }
  if (kind === 'refuse_upgrade' || isLoginFault(kind)) {
    if (kind === 'refuse_upgrade') network.faults.refuseUpgrades(count);
    else network.faults.refuseLogins(phone, { code: LOGIN_FAULTS[kind], attributes: {} }, count);
    if (count > 0) for (const connection of live) connection.drop();
    return { kind, hit: count > 0 ? live.length : 0, armed: count };
  }
  if (live.length === 0)
    throw new ControlFailure(409, 'NOT_CONNECTED', `No client of +${phone} is connected.`);
  for (const connection of live) {
    if (kind === 'hears') hearAgain(network, connection);
    else LIVE_FAULTS[kind satisfies LiveFault](connection);
  }
  return { kind, hit: live.length, armed: 0 };
}

type ArmedFault = (typeof ARMED_FAULTS)[number];

const ARMED_FAULTS = ['lost', 'no_lid', 'unacked', 'unlisted', 'unread', 'unreadable'] as const;

const isArmed = (kind: FaultKind): kind is ArmedFault =>
  (ARMED_FAULTS as readonly FaultKind[]).includes(kind);

/** Changes what is answered from now on; the live connections stay. */
function armFor(
  { faults }: Network,
  kind: ArmedFault,
  { phone, count }: { phone: string; count: number },
): void {
  if (kind === 'unacked') faults.withholdAcks(phone, count);
  else if (kind === 'lost') faults.loseMessages(phone, count);
  else if (kind === 'no_lid') faults.leaveOutLid(phone, count);
  else if (kind === 'unlisted') faults.leaveOutRows(phone, count);
  else faults.garbleMessages(phone, count, kind === 'unread' ? 'at_login' : 'at_once');
}

/** Ends `deaf`: what came for the connection meanwhile arrives at once. */
function hearAgain(network: Network, connection: Connection): void {
  connection.hearing = 'full';
  const { companion } = connection;
  if (companion === undefined) return;
  network.deliveries.flush(connection, companion);
  network.notices.flush(connection, companion);
}

function logOut(network: Network, phone: string): number {
  const companions = network.companions.of(phone);
  if (companions.length === 0) throw new ControlFailure(409, 'NOT_LINKED', `+${phone} has no companion.`);
  for (const companion of companions) unlink(network, companion);
  return companions.length;
}

const isLoginFault = (kind: FaultKind): kind is LoginFault => kind in LOGIN_FAULTS;
