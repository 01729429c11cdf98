import { proto } from '@whiskeysockets/baileys';
import * as v from 'valibot';
import type { Group } from '../groups.ts';
import { sendGroupedReceipt, sendReceipts } from '../handsets/handset-receipts.ts';
import { numberLimitRoutes } from '../limits/number-limit-calls.ts';
import type { CodePairing } from '../linking/code-pairing.ts';
import { type Companion, companionAddress } from '../linking/companions.ts';
import { sendFatHistory, sendOwn } from '../linking/history.ts';
import type { PairingService } from '../linking/pairing.ts';
import { FILE_FAULTS } from '../media/media-host.ts';
import type { Network } from '../network.ts';
import { CONTACT_NOTICES, notify, OWN_NOTICES } from '../to-clients/account-notices.ts';
import { ARRIVING_KINDS, arrive, pendingAnswers } from '../to-clients/arriving-stanzas.ts';
import { changeGroup } from '../to-clients/group-changes.ts';
import { contactCallRoutes } from './contact-calls.ts';
import { ControlFailure } from './control-failure.ts';
import { flag, groupId, oneOf, phone, phones, refuseField, text, wholeNumber } from './control-input.ts';
import { type ControlReply, type ControlRoute, route } from './control-server.ts';
import { faultRoutes } from './fault-calls.ts';

/** The part of a list that is asked for: items after `cursor`, by default 1,000. */
export const PAGE = {
  limit: v.optional(wholeNumber(1, 10_000), 1_000),
  cursor: v.optional(v.string('must be text'), ''),
};

/** A year. One call moves the clock at most this far. */
const LONGEST_MOVE_MS = 365 * 86_400_000;

/** The most contacts in one history, so that a call stays short. */
const MOST_CONTACTS = 50_000;

/** The longest message of the protocol, in characters of base64. It must fit into the body of a call. */
const LONGEST_MESSAGE = 1_000_000;

/** The number of a version: up to ten digits. */
const version = wholeNumber(0, 9_999_999_999);

/** The fields of a handset's receipts. */
export const RECEIPTS = {
  phone,
  to: phone,
  type: v.optional(oneOf(['delivered', 'read']), 'read'),
  group: v.optional(groupId),
  id: v.optional(text(64)),
};
/** The fields of the receipts of many members in one stanza. */
export const GROUPED_RECEIPT = {
  id: groupId,
  to: phone,
  messageId: text(64),
  delivered: v.optional(phones, []),
  read: v.optional(phones, []),
};
/** The fields of stanzas that arrive. */
export const STANZAS = {
  phone,
  kind: oneOf(ARRIVING_KINDS),
  from: v.optional(phone),
  readable: v.optional(flag, true),
  count: v.optional(wholeNumber(1, 1_000), 1),
};
/** The fields of a notification. */
export const NOTICE = { phone, kind: oneOf([...CONTACT_NOTICES, ...OWN_NOTICES]), from: v.optional(phone) };
/** The longest frame, in characters of base64. */
const LONGEST_FRAME = 500_000;
const FRAME = { phone, frame: text(LONGEST_FRAME) };
/** The longest timer of a group, in seconds: a year. */
const LONGEST_TIMER = 31_536_000;
/** The fields of a group. */
export const GROUP = {
  id: groupId,
  name: text(200),
  participants: phones,
  admins: v.optional(phones, []),
  announce: v.optional(flag, false),
  expiration: v.optional(wholeNumber(0, LONGEST_TIMER), 0),
  addressingMode: v.optional(oneOf(['lid', 'pn'])),
  untold: v.optional(flag, false),
};

/** Returns the calls that drive the network from outside. README.md lists their input and answers. */
export function controlRoutes(options: {
  network: Network;
  pairing: PairingService;
  codePairing: CodePairing;
  noiseRootKey: string;
}): ControlRoute[] {
  const { network, pairing, codePairing, noiseRootKey } = options;
  return [
    route('GET /root-key', {}, () => ({ data: { noiseRootKey } })),
    route('GET /media-ca', {}, () => ({ data: { ca: network.media.ca } })),
    route('POST /scan', { qr: text(2_000), phone }, async (input) => ({
      data: companionRecord(network, await pairing.scan(input.qr, input.phone)),
    })),
    route('POST /type-code', { code: text(20), phone }, async (input) => ({
      data: companionRecord(network, await codePairing.typeCode(input.code, input.phone)),
    })),
    route('GET /sessions', PAGE, (input) => {
      const companions = network.companions.all().sort((left, right) => (left.id < right.id ? -1 : 1));
      return page(input, companions, (companion) => companionRecord(network, companion));
    }),
    route('POST /clock', { forwardMs: wholeNumber(0, LONGEST_MOVE_MS) }, ({ forwardMs }) => {
      network.clock.forward(forwardMs);
      return { data: { now: new Date(network.clock.wallMs()).toISOString() } };
    }),
    ...clientVersionRoutes(network),
    ...numberRoutes(network),
    ...numberLimitRoutes(network),
    ...contactCallRoutes(network),
    ...groupRoutes(network),
    ...arrivalRoutes(network),
    ...faultRoutes(network),
  ];
}

/**
 * Returns the control calls for the versions that may log in and the version that the page names. A change cuts all
 * clients, so that it applies to them.
 */
function clientVersionRoutes({ versions, connections, companions }: Network): ControlRoute[] {
  return [
    route('GET /client-versions', {}, () => ({ data: versions.shown() })),
    route('PUT /client-versions', { least: version, newest: version }, (input) => {
      versions.set(input);
      for (const connection of connections.ofAll(companions.all())) connection.drop();
      return { data: versions.shown() };
    }),
  ];
}

function numberRoutes(network: Network): ControlRoute[] {
  const { numbers, offline } = network;
  return [
    route('PUT /numbers/{phone}', { phone, exists: flag, otherForms: v.optional(phones, []) }, (input) => {
      if (input.otherForms.includes(input.phone))
        throw refuseField('otherForms', 'must be other numbers than the path names');
      const number = numbers.setExists(input.phone, input.exists);
      for (const form of input.otherForms) numbers.addForm(input.phone, form);
      return { data: { phone: `+${number.phone}`, lid: `${number.lid}@lid`, exists: number.exists } };
    }),
    route('PUT /numbers/{phone}/account-name', { phone, name: text(100) }, (input) => {
      numbers.setAccountName(input.phone, input.name);
      return { data: { phone: `+${input.phone}`, name: input.name } };
    }),
    route('PUT /numbers/{phone}/handset', { phone, online: flag }, async (input) => {
      if (input.online) await offline.switchOn(input.phone);
      else offline.switchOff(input.phone);
      return { data: { phone: `+${input.phone}`, online: input.online } };
    }),
    route('POST /numbers/{phone}/lid', { phone }, (input) => {
      const { lid } = numbers.changeLid(input.phone);
      return { data: { phone: `+${input.phone}`, lid: `${lid}@lid` } };
    }),
    route('GET /numbers/{phone}/inbox', { ...PAGE, phone }, (input) =>
      page(input, network.inboxes.list(input.phone)),
    ),
    route('GET /statuses/{phone}', { ...PAGE, phone }, (input) =>
      page(input, network.statuses.list(input.phone)),
    ),
  ];
}

function groupOf(network: Network, id: string): Group {
  const group = network.groups.get(id);
  if (!group) throw new ControlFailure(404, 'NOT_FOUND', 'There is no such group.');
  return group;
}

function groupRoutes(network: Network): ControlRoute[] {
  return [
    route('GET /groups/{id}', { id: text(100) }, ({ id }) => ({ data: groupRecord(groupOf(network, id)) })),
    route('PUT /groups/{id}', GROUP, async ({ addressingMode, untold, ...fields }) => {
      if (fields.admins.some((admin) => !fields.participants.includes(admin)))
        throw refuseField('admins', 'must all be participants');
      const groupBefore = network.groups.get(fields.id);
      const group: Group = {
        ...fields,
        addressing: addressingMode ?? groupBefore?.addressing ?? 'lid',
        createdAt: groupBefore?.createdAt ?? Math.floor(network.clock.wallMs() / 1_000),
      };
      await changeGroup(network, group, untold);
      return { data: groupRecord(group) };
    }),
  ];
}

/** Returns the control calls that make something arrive at a number's clients. */
function arrivalRoutes(network: Network): ControlRoute[] {
  return [
    route('POST /numbers/{phone}/receipts', RECEIPTS, ({ group = '', id = '', ...receipts }) => ({
      data: { count: sendReceipts(network, { ...receipts, group, id }) },
    })),
    route('POST /groups/{id}/receipts', GROUPED_RECEIPT, ({ id, ...receipts }) => ({
      data: { count: sendGroupedReceipt(network, { ...receipts, group: groupOf(network, id) }) },
    })),
    route(
      'POST /numbers/{phone}/history',
      {
        phone,
        mappings: wholeNumber(0, MOST_CONTACTS),
        tokens: v.optional(wholeNumber(0, MOST_CONTACTS), 0),
        fault: v.optional(oneOf(FILE_FAULTS), 'none'),
      },
      async ({ phone, mappings, tokens, fault }) => {
        if (tokens > mappings) throw refuseField('tokens', 'must be at most as many as mappings');
        const path = await sendFatHistory(network, { phone, mappings, tokens, fault });
        return { data: { path } };
      },
    ),
    // The number's owner may send any message of the protocol with a changed client.
    route('POST /numbers/{phone}/own-messages', { phone, message: text(LONGEST_MESSAGE) }, async (input) => {
      const companions = network.companions.of(input.phone);
      const message = proto.Message.decode(Buffer.from(input.message, 'base64'));
      for (const companion of companions) await sendOwn(network, companion, message);
      return { data: { count: companions.length } };
    }),
    route('POST /sessions/{phone}/stanzas', STANZAS, async ({ from = '', ...stanzas }) => {
      const isStatus = stanzas.kind === 'status' || stanzas.kind === 'status_message';
      if (isStatus !== (from !== ''))
        throw refuseField('from', 'must name who posts a status, and nobody else');
      return { data: { ids: await arrive(network, { from, ...stanzas }) } };
    }),
    route('POST /sessions/{phone}/notices', NOTICE, ({ from = '', ...notice }) => {
      const isAboutContact = (CONTACT_NOTICES as readonly string[]).includes(notice.kind);
      if (isAboutContact !== (from !== ''))
        throw refuseField('from', 'must name the contact, and nobody else');
      return { data: { ids: notify(network, { from, ...notice }) } };
    }),
    route('POST /sessions/{phone}/frames', FRAME, ({ phone, frame }) => {
      const connections = network.connections.ofAll(network.companions.of(phone));
      for (const connection of connections) connection.sendBytes(Buffer.from(frame, 'base64'));
      return { data: { count: connections.length } };
    }),
    route('GET /sessions/{phone}/unanswered', { phone }, (input) => ({
      data: pendingAnswers(network, input.phone),
    })),
  ];
}

/** Returns the part of a list that was asked for, in the order of its ids, each item as `show` returns it. */
function page<Item extends { readonly id: string }>(
  { limit, cursor }: { readonly limit: number; readonly cursor: string },
  list: readonly Item[],
  show: (item: Item) => object = (item) => item,
): ControlReply {
  const itemsAfter = list.filter(({ id }) => id > cursor);
  const items = itemsAfter.slice(0, limit);
  return {
    data: {
      items: items.map(show),
      nextCursor: itemsAfter.length > limit ? (items.at(-1)?.id ?? null) : null,
    },
  };
}

/** Returns a group as callers see it. `expiration`: seconds after which messages disappear, 0 if they stay. */
export function groupRecord({ id, name, announce, expiration, addressing, ...group }: Group) {
  const participants = group.participants.map((member) => `+${member}`);
  const admins = group.admins.map((admin) => `+${admin}`);
  return { id, name, participants, admins, announce, expiration, addressingMode: addressing };
}

/** Returns a linked client as callers see it. `sent` counts its stanzas since the simulator started. */
export function companionRecord(network: Network, companion: Companion) {
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
    shownName: connection?.shownName ?? null,
    sent: network.sendCounts.countsOf(companion.id),
  };
}
