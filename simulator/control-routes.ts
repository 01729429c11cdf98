import { ARRIVING_KINDS, arrive, pendingAnswers } from './arriving-stanzas.ts';
import { clientVersionRoutes } from './client-version-calls.ts';
import type { CodePairing } from './code-pairing.ts';
import { type Companion, companionAddress } from './companions.ts';
import { writeAsContact } from './contact-messages.ts';
import { ControlFailure } from './control-failure.ts';
import { FieldReader } from './control-input.ts';
import type { ControlReply, ControlRequest, ControlRoute } from './control-server.ts';
import { inflict } from './fault-calls.ts';
import { FAULT_KINDS } from './faults.ts';
import { changeGroup } from './group-changes.ts';
import type { Group } from './groups.ts';
import { sendReceipts } from './handset-receipts.ts';
import { tellHistory, tellOwn } from './history-calls.ts';
import type { Network } from './network.ts';
import { numberLimitRoutes } from './number-limit-calls.ts';
import type { PairingService } from './pairing.ts';

/** A page of a list when the call does not say how long. */
const DEFAULT_PAGE = 1_000;
const LONGEST_PAGE = 10_000;

/** A year: the clock moves in one call so far at most. */
const LONGEST_MOVE_MS = 365 * 86_400_000;

/** The calls that drive the network from outside: README.md says what each one takes and answers. */
export function controlRoutes(options: {
  network: Network;
  pairing: PairingService;
  codePairing: CodePairing;
  noiseRootKey: string;
}): ControlRoute[] {
  const { network, pairing, codePairing, noiseRootKey } = options;
  return [
    { method: 'GET', path: '/root-key', handle: () => ({ data: { noiseRootKey } }) },
    { method: 'GET', path: '/media-ca', handle: () => ({ data: { ca: network.media.ca } }) },
    { method: 'POST', path: '/scan', handle: (request) => scan(network, pairing, request) },
    { method: 'POST', path: '/type-code', handle: (request) => typeCode(network, codePairing, request) },
    { method: 'PUT', path: '/numbers/{phone}', handle: (request) => putNumber(network, request) },
    { method: 'PUT', path: '/numbers/{phone}/handset', handle: (request) => switchHandset(network, request) },
    { method: 'POST', path: '/numbers/{phone}/lid', handle: (request) => changeLid(network, request) },
    { method: 'PUT', path: '/numbers/{phone}/keys', handle: (request) => refuseKeys(network, request) },
    {
      method: 'PUT',
      path: '/numbers/{phone}/passkey',
      handle: (request) => requirePasskey(network, request),
    },
    { method: 'POST', path: '/numbers/{phone}/receipts', handle: (request) => receipts(network, request) },
    { method: 'POST', path: '/numbers/{phone}/messages', handle: (request) => write(network, request) },
    {
      method: 'GET',
      path: '/numbers/{phone}/inbox',
      handle: (request) => page(request, network.inboxes.list(phoneOf(request.path))),
    },
    {
      method: 'GET',
      path: '/statuses/{phone}',
      handle: (request) => page(request, network.statuses.list(phoneOf(request.path))),
    },
    {
      method: 'POST',
      path: '/numbers/{phone}/history',
      handle: async ({ path, body }) => ({
        data: await tellHistory(network, { phone: phoneOf(path), body }),
      }),
    },
    {
      method: 'POST',
      path: '/numbers/{phone}/own-messages',
      handle: async ({ path, body }) => ({ data: await tellOwn(network, { phone: phoneOf(path), body }) }),
    },
    ...numberLimitRoutes(network),
    ...clientVersionRoutes(network),
    { method: 'PUT', path: '/groups/{id}', handle: (request) => putGroup(network, request) },
    { method: 'GET', path: '/groups/{id}', handle: (request) => getGroup(network, request) },
    { method: 'GET', path: '/sessions', handle: (request) => sessions(network, request) },
    { method: 'POST', path: '/clock', handle: (request) => moveClock(network, request) },
    { method: 'POST', path: '/sessions/{phone}/stanzas', handle: (request) => stanzas(network, request) },
    {
      method: 'GET',
      path: '/sessions/{phone}/unanswered',
      handle: ({ path }) => ({ data: pendingAnswers(network, phoneOf(path)) }),
    },
    { method: 'POST', path: '/sessions/{phone}/fault', handle: (request) => fault(network, request) },
    {
      method: 'POST',
      path: '/sessions/{phone}/ack-errors',
      handle: (request) => ackErrors(network, request),
    },
    {
      method: 'POST',
      path: '/sessions/{phone}/query-errors',
      handle: (request) => queryErrors(network, request),
    },
    {
      method: 'POST',
      path: '/sessions/{phone}/login-failures',
      handle: (request) => loginFailures(network, request),
    },
    {
      method: 'POST',
      path: '/sessions/{phone}/usync-errors',
      handle: (request) => usyncErrors(network, request),
    },
  ];
}

async function scan(
  network: Network,
  pairing: PairingService,
  { body }: ControlRequest,
): Promise<ControlReply> {
  const fields = new FieldReader(body);
  const qr = fields.text('qr', { most: 2_000 });
  const phone = fields.phone('phone');
  fields.check();
  return { data: companionRecord(network, await pairing.scan(qr, phone)) };
}

async function typeCode(
  network: Network,
  codePairing: CodePairing,
  { body }: ControlRequest,
): Promise<ControlReply> {
  const fields = new FieldReader(body);
  const code = fields.text('code', { most: 20 });
  const phone = fields.phone('phone');
  fields.check();
  return { data: companionRecord(network, await codePairing.typeCode(code, phone)) };
}

function putNumber(network: Network, { path, body }: ControlRequest): ControlReply {
  const phone = phoneOf(path);
  const fields = new FieldReader(body);
  const exists = fields.flag('exists');
  const otherForms = fields.phones('otherForms', []);
  if (otherForms.includes(phone)) fields.refuse('otherForms', 'must be other numbers than the path names');
  fields.check();
  const number = network.numbers.setExists(phone, exists);
  for (const form of otherForms) network.numbers.addForm(phone, form);
  return { data: { phone: `+${number.phone}`, lid: `${number.lid}@lid`, exists: number.exists } };
}

async function switchHandset(network: Network, { path, body }: ControlRequest): Promise<ControlReply> {
  const phone = phoneOf(path);
  const fields = new FieldReader(body);
  const online = fields.flag('online');
  fields.check();
  if (online) await network.offline.switchOn(phone);
  else network.offline.switchOff(phone);
  return { data: { phone: `+${phone}`, online } };
}

function changeLid(network: Network, { path }: ControlRequest): ControlReply {
  const { phone, lid } = network.numbers.changeLid(phoneOf(path));
  return { data: { phone: `+${phone}`, lid: `${lid}@lid` } };
}

function refuseKeys(network: Network, { path, body }: ControlRequest): ControlReply {
  const phone = phoneOf(path);
  const fields = new FieldReader(body);
  const error = fields.whole('error', { least: 0, most: 999 });
  fields.check();
  network.faults.refuseKeys(phone, error);
  return { data: { phone: `+${phone}`, error } };
}

function requirePasskey(network: Network, { path, body }: ControlRequest): ControlReply {
  const phone = phoneOf(path);
  const fields = new FieldReader(body);
  const required = fields.flag('required');
  fields.check();
  network.faults.requirePasskey(phone, required);
  return { data: { phone: `+${phone}`, required } };
}

function receipts(network: Network, { path, body }: ControlRequest): ControlReply {
  const phone = phoneOf(path);
  const fields = new FieldReader(body);
  const to = fields.phone('to');
  const type = fields.oneOf('type', ['delivered', 'read'], 'read');
  const group =
    body.group === undefined ? fields.text('group', { most: 0, fallback: '' }) : fields.groupId('group');
  const id = fields.text('id', { most: 64, fallback: '' });
  fields.check();
  return { data: { count: sendReceipts(network, { phone, to, type, group, id }) } };
}

async function write(network: Network, { path, body }: ControlRequest): Promise<ControlReply> {
  const from = phoneOf(path);
  const fields = new FieldReader(body);
  const to = fields.phoneOrGroup('to');
  const text = fields.text('text', { most: 65_536 });
  const addressing = fields.oneOf('addressing', ['lid', 'pn', 'lid_only', 'pn_only'], 'lid');
  const wait = fields.flag('wait', true);
  const token = fields.oneOf('token', ['notification', 'message', 'none'], 'notification');
  const unavailable = fields.flag('unavailable', false);
  fields.check();
  const result = await writeAsContact(network, { from, to, text, addressing, wait, token, unavailable });
  return {
    status: result.delivered ? 200 : 202,
    data: { id: result.messageId, delivered: result.delivered },
  };
}

/** The part of a list, in the order of its ids, that was asked for, each item as it is shown. */
function page<Item extends { readonly id: string }>(
  { query }: ControlRequest,
  list: readonly Item[],
  show: (item: Item) => object = (item) => item,
): ControlReply {
  const fields = new FieldReader(query);
  const limit = fields.whole('limit', { least: 1, most: LONGEST_PAGE, fallback: DEFAULT_PAGE });
  const cursor = fields.text('cursor', { most: 24, fallback: '' });
  fields.check();
  const rest = list.filter(({ id }) => id > cursor);
  const items = rest.slice(0, limit);
  return {
    data: { items: items.map(show), nextCursor: rest.length > limit ? (items.at(-1)?.id ?? null) : null },
  };
}

async function putGroup(network: Network, { path, body }: ControlRequest): Promise<ControlReply> {
  const fields = new FieldReader({ ...body, id: path.id });
  const id = fields.groupId('id');
  const before = network.groups.get(id);
  const participants = fields.phones('participants');
  const admins = fields.phones('admins', []);
  const group: Group = {
    id,
    name: fields.text('name', { most: 200 }),
    participants,
    admins,
    announce: fields.flag('announce', false),
    addressing: fields.oneOf('addressingMode', ['lid', 'pn'], before?.addressing ?? 'lid'),
    createdAt: before?.createdAt ?? Math.floor(network.clock.wallMs() / 1000),
  };
  if (admins.some((phone) => !participants.includes(phone))) {
    fields.refuse('admins', 'must all be participants');
  }
  fields.check();
  await changeGroup(network, group);
  return { data: groupRecord(group) };
}

function getGroup(network: Network, { path }: ControlRequest): ControlReply {
  const group = network.groups.get(path.id ?? '');
  if (!group) throw new ControlFailure(404, 'NOT_FOUND', 'There is no such group.');
  return { data: groupRecord(group) };
}

function groupRecord(group: Group): object {
  const { id, name, announce, addressing } = group;
  const participants = group.participants.map((phone) => `+${phone}`);
  const admins = group.admins.map((phone) => `+${phone}`);
  return { id, name, participants, admins, announce, addressingMode: addressing };
}

function sessions(network: Network, request: ControlRequest): ControlReply {
  const companions = network.companions.all().sort((one, other) => (one.id < other.id ? -1 : 1));
  return page(request, companions, (companion) => companionRecord(network, companion));
}

function companionRecord(network: Network, companion: Companion): object {
  const connection = network.connections.of(companion.id);
  return {
    id: companion.id,
    phone: `+${companion.phone}`,
    device: companion.device,
    jid: companionAddress(companion, 'pn'),
    lid: companionAddress(companion, 'lid'),
    connected: connection !== undefined,
    since: connection ? new Date(connection.openedAtMs).toISOString() : null,
    linkedAt: companion.linkedAt,
    sent: network.sendCounts.of(companion.id),
  };
}

function moveClock(network: Network, { body }: ControlRequest): ControlReply {
  const fields = new FieldReader(body);
  const forwardMs = fields.whole('forwardMs', { least: 0, most: LONGEST_MOVE_MS });
  fields.check();
  network.clock.forward(forwardMs);
  return { data: { now: new Date(network.clock.wallMs()).toISOString() } };
}

async function stanzas(network: Network, { path, body }: ControlRequest): Promise<ControlReply> {
  const phone = phoneOf(path);
  const fields = new FieldReader(body);
  const kind = fields.oneOf('kind', ARRIVING_KINDS);
  const isStatus = kind === 'status' || kind === 'status_message';
  const from = isStatus ? fields.phone('from') : '';
  const readable = fields.flag('readable', true);
  const count = fields.whole('count', { least: 1, most: 1_000, fallback: 1 });
  fields.check();
  return { data: { ids: await arrive(network, { phone, kind, from, readable, count }) } };
}

function fault(network: Network, { path, body }: ControlRequest): ControlReply {
  const phone = phoneOf(path);
  const fields = new FieldReader(body);
  const kind = fields.oneOf('kind', FAULT_KINDS);
  const count = fields.whole('count', { least: 0, most: 1_000_000, fallback: 1 });
  fields.check();
  return { data: inflict(network, { phone, kind, count }) };
}

function ackErrors(network: Network, { path, body }: ControlRequest): ControlReply {
  const phone = phoneOf(path);
  const fields = new FieldReader(body);
  const code = fields.whole('code', { least: 100, most: 999 });
  const count = fields.whole('count', { least: 0, most: 1_000_000, fallback: 1 });
  fields.check();
  network.faults.refuseMessages(phone, code, count);
  return { data: { code, count } };
}

function queryErrors(network: Network, { path, body }: ControlRequest): ControlReply {
  const phone = phoneOf(path);
  const fields = new FieldReader(body);
  const xmlns = fields.text('xmlns', { most: 60 });
  const code = fields.whole('code', { least: 100, most: 999, fallback: 429 });
  const text = fields.text('text', { most: 100, fallback: code === 429 ? 'rate-overlimit' : 'refused' });
  const count = fields.whole('count', { least: 0, most: 1_000_000, fallback: 1 });
  fields.check();
  network.faults.refuseQueries({ phone, xmlns, code, text, count });
  return { data: { xmlns, code, text, count } };
}

function loginFailures(network: Network, { path, body }: ControlRequest): ControlReply {
  const phone = phoneOf(path);
  const fields = new FieldReader(body);
  const reason = fields.whole('reason', { least: 400, most: 599 });
  const attributes = fields.texts('attributes', { most: 500 });
  const count = fields.whole('count', { least: 0, most: 1_000_000, fallback: 1 });
  fields.check();
  network.faults.refuseLogins(phone, { code: reason, attributes }, count);
  const live = network.connections.ofAll(network.companions.of(phone));
  if (count > 0) for (const connection of live) connection.drop();
  return { data: { reason, attributes, count } };
}

function usyncErrors(network: Network, { path, body }: ControlRequest): ControlReply {
  const phone = phoneOf(path);
  const fields = new FieldReader(body);
  const protocol = fields.oneOf('protocol', ['contact', 'devices', 'lid']);
  const code = fields.whole('code', { least: 100, most: 999, fallback: 429 });
  const text = fields.text('text', { most: 100, fallback: code === 429 ? 'rate-overlimit' : 'refused' });
  const backoff = fields.whole('backoff', { least: 0, most: 1_000_000_000, fallback: 0 });
  const count = fields.whole('count', { least: 0, most: 1_000_000, fallback: 1 });
  fields.check();
  network.faults.refuseProtocol(phone, protocol, { code, text, backoff: backoff || undefined, count });
  return { data: { protocol, code, text, backoff, count } };
}

function phoneOf(path: Readonly<Record<string, string>>): string {
  const fields = new FieldReader({ phone: path.phone });
  const phone = fields.phone('phone');
  fields.check();
  return phone;
}
