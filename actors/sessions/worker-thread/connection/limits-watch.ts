import { type BinaryNode, getBinaryNodeChild, type WASocket } from '@whiskeysockets/baileys';
import type { ArmedTimer } from '../../../../runtime/clock.ts';
import type { ReportedNewChats, ReportedRestriction, SessionEventOf } from '../../session-events.ts';
import { describeDefect } from '../shared/defect.ts';
import type { SessionContext } from '../shared/session-context.ts';

/** The limits of the number that a session reports. */
type Limits = Omit<SessionEventOf<'session.limits'>, 'type' | 'generation'>;

/** The ack errors by which the network refuses to start a chat. Neither is retried. */
const LIMIT_CODES: readonly (string | undefined)[] = ['463', '475'];

/**
 * Reads the network's reports about the number's limits, and asks for them. It asks once after the session opened,
 * after a refusal, and hourly while the network reports a restriction or a quota. The queries send nothing to other
 * people (WhiskeySockets/Baileys pull requests 2442 and 2445).
 */
export class LimitsWatch {
  readonly #context: SessionContext;
  readonly #socket: WASocket;
  #isAsking = false;
  #askAgain = false;
  #next: ArmedTimer | undefined;
  #isRestricted = false;
  #hasQuota = false;
  /** The network refused a message, and has not answered both queries since. */
  #isRefused = false;

  constructor(context: SessionContext, socket: WASocket) {
    this.#context = context;
    this.#socket = socket;
    socket.ws.on('CB:notification,type:mex', (stanza: BinaryNode) => this.#onNotification(stanza));
    socket.ws.on('CB:ack,class:message', ({ attrs }: BinaryNode) => {
      if (!LIMIT_CODES.includes(attrs.error)) return;
      this.#isRefused = true;
      this.ask();
    });
  }

  /** Sends both queries. Calls before their answers repeat both queries once, after the answers. */
  ask(): void {
    this.#askAgain = this.#isAsking;
    if (this.#isAsking) return;
    this.#isAsking = true;
    void this.#ask();
  }

  async #ask(): Promise<void> {
    const socket = this.#socket;
    const [restriction, newChats] = await Promise.all([
      this.#answer(
        socket.fetchAccountReachoutTimelock(),
        ({ isActive, timeEnforcementEnds, enforcementType }) => ({
          isActive: isActive === true,
          kind: kindOf(enforcementType),
          endsAtMs:
            timeEnforcementEnds === undefined ? null : instantMs(timeEnforcementEnds.getTime() / 1_000),
        }),
      ),
      this.#answer(socket.fetchNewChatMessageCap(), newChatsOf),
    ]);
    this.#isAsking = false;
    // An answer to a query from before the refusal may not know of it.
    if (restriction !== undefined && newChats !== undefined && !this.#askAgain) this.#isRefused = false;
    this.#report({
      ...(restriction === undefined ? {} : { restriction }),
      ...(newChats === undefined ? {} : { newChats }),
    });
    if (this.#askAgain) this.ask();
  }

  /** Undefined means no reply, from which nothing follows for the number. */
  async #answer<Answer, Read>(
    answer: Promise<Answer>,
    read: (answer: Answer) => Read,
  ): Promise<Read | undefined> {
    try {
      return read(await answer);
    } catch (error) {
      this.#context.logFailure("the network did not answer about the number's limits")(error);
      return undefined;
    }
  }

  #onNotification(stanza: BinaryNode): void {
    const update = getBinaryNodeChild(stanza, 'update');
    const { op_name: operation } = update?.attrs ?? {};
    try {
      if (operation === 'NotificationUserReachoutTimelockUpdate') {
        this.#report({ restriction: restrictionOf(dataOf(update).xwa2_notify_account_reachout_timelock) });
      } else if (operation === 'MessageCappingInfoNotification') {
        this.#report({
          newChats: newChatsOf(dataOf(update).xwa2_notify_new_chat_messages_capping_info_update),
        });
      }
    } catch (error) {
      const fields = { operation, ...describeDefect(error) };
      this.#context.log(fields, "what the network said of the number's limits cannot be read");
      this.ask();
    }
  }

  #report(limits: Limits): void {
    const { restriction, newChats } = limits;
    if (restriction !== undefined) this.#isRestricted = restriction.isActive;
    if (newChats !== undefined) this.#hasQuota = newChats !== null;
    this.#next?.cancel();
    // Between two replies the shop counts by itself. It counts people who replied elsewhere as new chats.
    if (this.#isRestricted || this.#hasQuota || this.#isRefused)
      this.#next = this.#context.later(this.#context.timing.limitsEveryMs, () => this.ask());
    if (restriction !== undefined || newChats !== undefined)
      this.#context.emit({ type: 'session.limits', ...limits });
  }
}

/** The network's name for a restriction that it gives no other. */
const UNNAMED_KIND = 'DEFAULT';

type Fields = Readonly<Record<string, unknown>>;

/** Returns the data of an update. Throws if it is empty, no JSON, or has no data. */
function dataOf(update: BinaryNode | undefined): Readonly<Record<string, Fields | undefined>> {
  const content = update?.content;
  if (!(content instanceof Uint8Array)) throw new Error('it is empty');
  const { data } = JSON.parse(Buffer.from(content).toString()) as { data?: Record<string, Fields> };
  if (data == null) throw new Error('it has no data');
  return data;
}

function restrictionOf(fields: Fields | undefined): ReportedRestriction {
  if (fields === undefined) throw new Error('it has no restriction');
  const { is_active: isActive, enforcement_type: kind, time_enforcement_ends: ends } = fields;
  return {
    isActive: isActive === true,
    kind: kindOf(kind),
    endsAtMs: instantMs(ends),
  };
}

function kindOf(kind: unknown): string {
  return typeof kind === 'string' && kind !== '' ? kind.slice(0, LONGEST_KIND) : UNNAMED_KIND;
}

/** Null if there is no quota. */
function newChatsOf(fields: object | undefined): ReportedNewChats | null {
  if (fields === undefined) throw new Error('it has no quota');
  const { total_quota, used_quota, capping_status, cycle_end_timestamp } = fields as Fields;
  const warning = WARNINGS[String(capping_status)] ?? null;
  const quota = Number(total_quota ?? -1);
  if (!Number.isSafeInteger(quota) || quota < 0 || (quota === 0 && warning === null)) return null;
  const usedQuota = Math.max(0, Math.floor(Number(used_quota ?? 0) || 0));
  return { quota, used: usedQuota, warning, endsAtMs: instantMs(cycle_end_timestamp) };
}

const WARNINGS: { readonly [status: string]: ReportedNewChats['warning'] } = {
  FIRST_WARNING: 'first',
  SECOND_WARNING: 'second',
  CAPPED: 'capped',
};

/** A name that the network gives is stored, shown and sent on. */
const LONGEST_KIND = 100;
/** The end of the year 9999. A later value is not a valid time. */
const LATEST_MS = 253_402_300_799_000;

/** Converts whole seconds since the epoch, as text or number, to milliseconds. Null if there is no valid time. */
function instantMs(seconds: unknown): number | null {
  const atMs = Math.floor(Number(seconds ?? 0)) * 1_000;
  return atMs > 0 && atMs <= LATEST_MS ? atMs : null;
}
