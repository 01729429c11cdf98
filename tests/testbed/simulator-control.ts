import type { MESSAGE } from '../../simulator/control/contact-calls.ts';
import { ControlFailure, type FieldProblem } from '../../simulator/control/control-failure.ts';
import type { GivenFields } from '../../simulator/control/control-input.ts';
import type {
  companionRecord,
  GROUP,
  GROUPED_RECEIPT,
  groupRecord,
  NOTICE,
  PAGE,
  RECEIPTS,
  STANZAS,
} from '../../simulator/control/control-routes.ts';
import type {
  FaultResult,
  LOGIN_FAILURE,
  QUERY_ERROR,
  USYNC_ERROR,
} from '../../simulator/control/fault-calls.ts';
import type { FaultKind } from '../../simulator/control/faults.ts';
import type { InboxEntry, StatusEntry } from '../../simulator/handsets/inboxes.ts';
import type { NEW_CHATS, RESTRICTION } from '../../simulator/limits/number-limit-calls.ts';
import type { FatHistory } from '../../simulator/linking/history.ts';
import type { FileFault } from '../../simulator/media/media-host.ts';
import type { PendingAnswers } from '../../simulator/to-clients/arriving-stanzas.ts';

/** A linked client, as the control API shows it. */
export type SessionRecord = ReturnType<typeof companionRecord>;

/** A group, as the control API shows it. */
export type GroupRecord = ReturnType<typeof groupRecord>;

/** A message that a contact writes, as the control API takes it. */
export type ContactMessageCall = GivenFields<typeof MESSAGE, 'phone'>;

/** A page of a list. `nextCursor` asks for the next page; null: this is the last one. */
export interface Page<Item> {
  readonly items: readonly Item[];
  readonly nextCursor: string | null;
}

type PageQuery = GivenFields<typeof PAGE>;

const pathOf = (...parts: string[]): string => `/${parts.map(encodeURIComponent).join('/')}`;

function paged(path: string, query: PageQuery): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value));
  return search.size === 0 ? path : `${path}?${search}`;
}

/** Returns a function that makes calls of the control API at `url`. */
function caller(url: string) {
  return async <Data>(method: string, path: string, body?: object): Promise<Data> => {
    const response = await fetch(`${url}${path}`, {
      method,
      ...(body === undefined
        ? {}
        : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    });
    const answer = (await response.json()) as
      | { success: true; data: Data }
      | { success: false; error: { code: string; message: string; fields?: FieldProblem[] } };
    if (answer.success) return answer.data;
    throw new ControlFailure(response.status, answer.error.code, answer.error.message, answer.error.fields);
  };
}

/**
 * Returns a client for the control API of the simulator at `url`, with one method per call. Phones are written with or
 * without `+`. Every method rejects with a `ControlFailure` if the call is refused.
 */
export function simulatorControl(url: string) {
  const call = caller(url);
  return {
    /** Bars the number from new chats, or allows them again, and notifies its clients. */
    restrict: (phone: string, restriction: GivenFields<typeof RESTRICTION, 'phone'>) =>
      call<object>('PUT', pathOf('numbers', phone, 'restriction'), restriction),
    /** Gives the number a quota of messages to people who have not answered, and notifies its clients. */
    limitNewChats: (phone: string, newChats: GivenFields<typeof NEW_CHATS, 'phone'>) =>
      call<object>('PUT', pathOf('numbers', phone, 'new-chats'), newChats),
    /** Clients below the revision `least` get 405, and the page names `newest`. Cuts the connected ones. */
    setClientVersions: (versions: { least: number; newest: number }) =>
      call<{ asked: number }>('PUT', '/client-versions', versions),
    /** Returns both revisions, and how often the page was read. */
    clientVersions: () => call<{ least: number; newest: number; asked: number }>('GET', '/client-versions'),
    /** Returns base64 of the Noise root key that clients must trust. */
    rootKey: async () => (await call<{ noiseRootKey: string }>('GET', '/root-key')).noiseRootKey,
    /** Returns the PEM of the authority behind the attachments' https host. */
    mediaCa: async () => (await call<{ ca: string }>('GET', '/media-ca')).ca,
    /** Scans a QR code with the phone. Resolves once the client is linked. */
    scan: (qr: string, phone: string) => call<SessionRecord>('POST', '/scan', { qr, phone }),
    /** Types a client's code on the phone. Resolves once the client is linked. */
    typeCode: (code: string, phone: string) => call<SessionRecord>('POST', '/type-code', { code, phone }),
    /** Puts a number on the network or removes it. A query for one of its `otherForms` is answered with this number. */
    setNumber: (phone: string, exists: boolean, otherForms: readonly string[] = []) =>
      call<{ phone: string; lid: string; exists: boolean }>('PUT', pathOf('numbers', phone), {
        exists,
        otherForms,
      }),
    /** Switches a handset off or on. When it is on again it gets what was sent meanwhile, with receipts. */
    setHandset: (phone: string, online: boolean) =>
      call<{ phone: string; online: boolean }>('PUT', pathOf('numbers', phone, 'handset'), { online }),
    /** Gives the number a new LID. Messages to the former one are acknowledged with `refresh_lid` and not delivered. */
    changeLid: (phone: string) =>
      call<{ phone: string; lid: string }>('POST', pathOf('numbers', phone, 'lid')),
    /** Answers queries for the keys of a number's devices with this error. 0 ends it. */
    refuseKeys: (phone: string, error: number) =>
      call<object>('PUT', pathOf('numbers', phone, 'keys'), { error }),
    /** Makes the number's account link clients only with a passkey, or without one again. */
    requirePasskey: (phone: string, required: boolean) =>
      call<{ phone: string; required: boolean }>('PUT', pathOf('numbers', phone, 'passkey'), { required }),
    /** A contact writes to a shop's number or a group. `delivered` is true if a client sent its receipt in time. */
    write: (from: string, message: ContactMessageCall) =>
      call<{ id: string; delivered: boolean; path: string | null }>(
        'POST',
        pathOf('numbers', from, 'messages'),
        message,
      ),
    /** Sends a handset's receipts for its messages from a number, or for one stanza's id. */
    sendReceipts: (from: string, receipts: GivenFields<typeof RECEIPTS, 'phone'>) =>
      call<{ count: number }>('POST', pathOf('numbers', from, 'receipts'), receipts),
    /** Sends the receipts of many members' handsets for one message of a group as one stanza. */
    sendGroupedReceipt: (group: string, receipts: GivenFields<typeof GROUPED_RECEIPT, 'id'>) =>
      call<{ count: number }>('POST', pathOf('groups', group, 'receipts'), receipts),
    /**
     * Sends the phone's connected clients these bytes instead of an encoded stanza. `count` is the number of clients.
     */
    sendFrame: (phone: string, frame: Uint8Array) =>
      call<{ count: number }>('POST', pathOf('sessions', phone, 'frames'), {
        frame: Buffer.from(frame).toString('base64'),
      }),
    /** Spoils a file that a contact sent. `path` is from the answer of `write`. */
    spoilFile: (path: string, fault: FileFault) => call<object>('PUT', '/files', { path, fault }),
    /** Returns the number of downloads whose readers have not read everything. */
    downloads: async () => (await call<{ downloads: number }>('GET', '/files')).downloads,
    /** Makes the number's account that of a person, whose clients learn the name from the account's settings. */
    nameAccount: (phone: string, name: string) =>
      call<object>('PUT', pathOf('numbers', phone, 'account-name'), { name }),
    /**
     * Notifies a number's clients about devices, an identity or the account. `from` is the contact that it is about.
     */
    notify: (phone: string, notice: GivenFields<typeof NOTICE, 'phone'>) =>
      call<{ ids: string[] }>('POST', pathOf('sessions', phone, 'notices'), notice),
    /** Sends the phone's clients a history of its contacts. The first `tokens` of them have a chat and a token. */
    sendHistory: (phone: string, history: FatHistory) =>
      call<{ path: string }>('POST', pathOf('numbers', phone, 'history'), history),
    /** Sends the phone's clients a message of the protocol (`proto.Message`) from the phone. */
    sendOwn: (phone: string, message: Uint8Array) =>
      call<{ count: number }>('POST', pathOf('numbers', phone, 'own-messages'), {
        message: Buffer.from(message).toString('base64'),
      }),
    /** Returns the messages that a handset received, oldest first. */
    inbox: (phone: string, query: PageQuery = {}) =>
      call<Page<InboxEntry>>('GET', paged(pathOf('numbers', phone, 'inbox'), query)),
    /** Returns the statuses that a number posted or saw, oldest first. */
    statuses: (phone: string, query: PageQuery = {}) =>
      call<Page<StatusEntry>>('GET', paged(pathOf('statuses', phone), query)),
    /** Creates or changes a group and notifies its companions. */
    setGroup: (id: string, group: GivenFields<typeof GROUP, 'id'>) =>
      call<GroupRecord>('PUT', pathOf('groups', id), group),
    group: (id: string) => call<GroupRecord>('GET', pathOf('groups', id)),
    /** Returns the linked clients, in the order of their ids. */
    sessions: (query: PageQuery = {}) => call<Page<SessionRecord>>('GET', paged('/sessions', query)),
    /** Moves the network's time forward. */
    forward: (forwardMs: number) => call<{ now: string }>('POST', '/clock', { forwardMs }),
    /** Delivers stanzas that are not a message from one person to another. `from` is the author of a status. */
    arrive: (phone: string, stanzas: GivenFields<typeof STANZAS, 'phone'>) =>
      call<{ ids: string[] }>('POST', pathOf('sessions', phone, 'stanzas'), stanzas),
    /** Returns the stanzas that a number's clients have not answered. */
    unanswered: (phone: string) => call<PendingAnswers>('GET', pathOf('sessions', phone, 'unanswered')),
    /** Inflicts a fault on a number's clients. `count` is the number of later logins, upgrades or acks that it hits. */
    fault: (phone: string, kind: FaultKind, count?: number) =>
      call<FaultResult>('POST', pathOf('sessions', phone, 'fault'), {
        kind,
        ...(count === undefined ? {} : { count }),
      }),
    /** Refuses the number's next messages with an error in the ack. */
    ackErrors: (phone: string, code: number, count = 1) =>
      call<{ code: number; count: number }>('POST', pathOf('sessions', phone, 'ack-errors'), { code, count }),
    /** Refuses the number's next queries in a name space, such as `usync` or `w:g2`. */
    queryErrors: (phone: string, refusal: GivenFields<typeof QUERY_ERROR, 'phone'>) =>
      call<{ xmlns: string; code: number; text: string; count: number }>(
        'POST',
        pathOf('sessions', phone, 'query-errors'),
        refusal,
      ),
    /** Cuts the number's clients. Their next logins fail with that reason and these attributes (`code`, `expire`). */
    failLogins: (phone: string, failure: GivenFields<typeof LOGIN_FAILURE, 'phone'>) =>
      call<{ reason: number; attributes: Record<string, string>; count: number }>(
        'POST',
        pathOf('sessions', phone, 'login-failures'),
        failure,
      ),
    /**
     * Answers a protocol of the number's next usync queries with an error inside the result, as the real server does.
     */
    usyncErrors: (phone: string, error: GivenFields<typeof USYNC_ERROR, 'phone'>) =>
      call<{ protocol: string; code: number }>('POST', pathOf('sessions', phone, 'usync-errors'), error),
  };
}

/** The client that `simulatorControl` returns. */
export type SimulatorControl = ReturnType<typeof simulatorControl>;
