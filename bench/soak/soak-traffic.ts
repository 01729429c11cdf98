import { customer, customers } from '../harness/live-shops.ts';
import type { LiveShop, LiveSide } from '../harness/live-side.ts';
import type { BroughtEvent } from '../harness/webhook-listener.ts';
import { inParallel } from '../load/in-parallel.ts';
import { patientCall } from '../load/patient-call.ts';
import type { MessageOutcome } from './soak-outcomes.ts';
import { soakMessage } from './soak-shops.ts';

/** A node that is killed is away for some seconds. A caller who gets no answer for this long has lost a message. */
const PATIENCE_MS = 90_000;
const READS_AT_ONCE = 32;
const ENDS = new Set(['message.sent', 'message.failed', 'message.rejected']);
const NUMBER = /^(?:Your order|Question) (\d+)\b/;
const WHOLE_INBOX = { limit: 10_000 };

/** The messages of a soak in both directions, by number, and what was seen of them. Texts are not kept. */
export class SoakTraffic {
  readonly #side: LiveSide;
  readonly #shops: readonly LiveShop[];
  readonly #minutes: number;
  /** By number. A number without an id was not accepted. */
  readonly #ids: string[] = [];
  /** Different events of an end, by message id. */
  readonly #ends = new Map<string, number>();
  /** How many different events brought an inbound message, by its number. */
  readonly #brought: number[] = [];
  readonly #open = new Set<Promise<void>>();
  #acceptMs: number[] = [];
  #written = 0;
  /** Refusals and failures, with their codes. */
  readonly refused: string[] = [];
  /** Calls that were asked again. */
  repeated = 0;

  constructor(side: LiveSide, shops: readonly LiveShop[], minutes: number) {
    this.#side = side;
    this.#shops = shops;
    this.#minutes = minutes;
  }

  get accepted(): number {
    return this.#ids.reduce((sum) => sum + 1, 0);
  }

  /** The messages that customers wrote, and those of them that the webhook got. */
  get inbound(): { readonly written: number; readonly brought: number; readonly broughtTwice: number } {
    const counts = Object.values(this.#brought);
    const broughtTwice = counts.filter((count) => count > 1).length;
    return { written: this.#written, brought: counts.length, broughtTwice };
  }

  /** How many accepted messages' ends the webhook got. */
  get endsBrought(): number {
    return this.#ends.size;
  }

  /** Begins a send and waits for nothing: a call that has to wait delays no other. */
  send(turn: number, dueMs: number): void {
    const sending = this.#send(turn, dueMs).catch((error: Error) => void this.refused.push(error.message));
    this.#open.add(sending);
    void sending.finally(() => this.#open.delete(sending));
  }

  /** Lets a customer write to the next shop. */
  async write(turn: number): Promise<void> {
    const { phone } = this.#shops[turn % this.#shops.length] as LiveShop;
    await this.#side.network.write(customer(turn), { to: phone, text: `Question ${turn}`, wait: false });
    this.#written += 1;
  }

  /** Takes an event of the webhook. */
  take({ type, data }: BroughtEvent): void {
    if (ENDS.has(type)) this.#ends.set(data.id ?? '', (this.#ends.get(data.id ?? '') ?? 0) + 1);
    const turn = type === 'message.received' ? numberIn(data.text) : undefined;
    if (turn !== undefined) this.#brought[turn] = (this.#brought[turn] ?? 0) + 1;
  }

  /** Times from when a send was due until it was accepted, since the last call of this. */
  takeAcceptMs(): Float64Array {
    const sorted = Float64Array.from(this.#acceptMs).sort();
    this.#acceptMs = [];
    return sorted;
  }

  /** Resolves when every call was answered or given up. */
  async settled(): Promise<void> {
    await Promise.all(this.#open);
  }

  /** Reads what became of each accepted message, and counts its text on the handsets. */
  async outcomes(): Promise<readonly MessageOutcome[]> {
    const shownBytes = await this.#shown();
    const outcomes: MessageOutcome[] = [];
    await inParallel(Object.keys(this.#ids).map(Number), READS_AT_ONCE, async (turn) => {
      const id = this.#ids[turn] as string;
      const { key } = this.#shops[turn % this.#shops.length] as LiveShop;
      const call = { method: 'GET', path: `/api/v1/messages/${id}`, token: key };
      const { status, data } = await patientCall(this.#ports, call, {
        first: turn,
        patienceMs: PATIENCE_MS,
      });
      const record = data as { readonly status: string; readonly reason: string | null };
      outcomes.push({
        status: status === 200 ? record.status : String(status),
        reason: status === 200 ? record.reason : null,
        shown: shownBytes[turn] ?? 0,
        events: this.#ends.get(id) ?? 0,
      });
    });
    return outcomes;
  }

  readonly #ports = (): readonly number[] => this.#side.nodes.map(({ apiPort }) => apiPort);

  async #send(turn: number, dueMs: number): Promise<void> {
    const call = soakMessage(this.#shops, turn, this.#minutes);
    // Each shop uses the nodes by turns.
    const first = turn + Math.floor(turn / this.#shops.length);
    const { status, data, code, repeats } = await patientCall(this.#ports, call, {
      first,
      patienceMs: PATIENCE_MS,
    });
    this.repeated += repeats;
    if (status !== 202 && status !== 200) {
      this.refused.push(`${status} ${code}`);
      return;
    }
    this.#acceptMs.push(performance.now() - dueMs);
    this.#ids[turn] = (data as { readonly id: string }).id;
  }

  async #shown(): Promise<Uint8Array> {
    const shownBytes = new Uint8Array(this.#ids.length);
    await inParallel(customers(), 4, async (phone) => {
      const { items } = await this.#side.network.inbox(phone, WHOLE_INBOX);
      for (const { text } of items) {
        const turn = numberIn(text);
        if (turn !== undefined) shownBytes[turn] = (shownBytes[turn] ?? 0) + 1;
      }
    });
    return shownBytes;
  }
}

function numberIn(text: string | null | undefined): number | undefined {
  const digits = NUMBER.exec(text ?? '')?.[1];
  return digits === undefined ? undefined : Number(digits);
}
