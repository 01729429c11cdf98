import type { Random } from '../../runtime/random.ts';
import type { ApiAnswer, ApiClient } from '../e2e/stack/api-client.ts';
import type { Fleet } from '../e2e/stack/fleet.ts';
import { sendText } from '../e2e/stack/shop-steps.ts';
import { pickOne } from './faults.ts';
import type { History } from './history.ts';

/** A tenant whose callers act, and what they need. */
export interface Tenant {
  readonly id: string;
  /** Waits while the tenant is suspended. */
  readonly api: ApiClient;
  readonly fleet: Fleet;
  readonly history: History;
  readonly random: Random;
  /** Runs what operators do that would undo each other, in the order in which it was given. */
  oneAtATime(work: () => Promise<void>): Promise<void>;
  nextPhone(): string;
  nextName(): string;
}

/** A message whose caller got the acceptance. */
interface SentMessage {
  readonly id: string;
  readonly key: string;
  /** A number or a group. */
  readonly to: string;
  readonly text: string;
}

/** A connected shop in its life. */
export interface Shop {
  readonly id: string;
  readonly phone: string;
  /** The id of a group that it administers. */
  readonly group: string;
  readonly customers: string[];
  /** Others, each of whom writes once. */
  readonly visitors: string[];
  /** People who wrote STOP. They write no more, since any message would let the shop write again. */
  readonly silent: Set<string>;
  /** People whose STOP was acknowledged. */
  readonly stopped: Set<string>;
  readonly messages: SentMessage[];
  /** The scheduled sends. */
  readonly scheduled: { readonly id: string; readonly to: string; readonly text: string }[];
  readonly batches: { readonly id: string; readonly texts: ReadonlyMap<string, string> }[];
  /** Receipts that came too late for the answer of the network, and are waited for. */
  readonly awaited: Promise<void>[];
}

/** A step in the life of a shop. */
export type Step = (tenant: Tenant, shop: Shop) => Promise<void>;

/** A message that a caller wants to send. */
export interface Draft {
  readonly to: string;
  readonly text: string;
  readonly key: string;
}

/** Returns a message to a customer that the shop has not written to yet, if there is one. */
export function freshDraft({ nextName, random }: Tenant, shop: Shop): Draft {
  const fresh = shop.customers.filter((to) => !shop.messages.some((message) => message.to === to));
  const text = nextName();
  return { to: pickOne(fresh.length > 0 ? fresh : shop.customers, random), text, key: text };
}

/** Returns a message to somebody whom the shop has written to. */
export function secondDraft({ nextName, random }: Tenant, shop: Shop): Draft {
  const text = nextName();
  const known = shop.messages.map(({ to }) => to).filter((to) => shop.customers.includes(to));
  return { to: pickOne(known.length > 0 ? known : shop.customers, random), text, key: text };
}

/** Asks for a send. */
export function ask({ api }: Tenant, { id }: Shop, { to, text, key }: Draft): Promise<ApiAnswer> {
  return sendText({ api }, id, { to, text, idempotencyKey: key });
}

/** Statuses of an answer that refuses the message: the shop is reconnecting, or a limit is reached. */
const REFUSALS: ReadonlySet<number> = new Set([403, 409, 422, 429]);

/** Writes down what a send was answered. Throws when that is neither an acceptance nor a refusal. */
export function note({ history }: Tenant, shop: Shop, draft: Draft, answer: ApiAnswer): void {
  const { to, text, key } = draft;
  const { status, data, error } = answer;
  if (status === 202 || status === 200) accept(history, shop, { ...draft, id: String(data.id) });
  else if (REFUSALS.has(status))
    history.add({ kind: 'refused', shop: shop.id, text, to, code: error?.code ?? '' });
  else throw new Error(`a send of ${key} was answered ${status} ${JSON.stringify(error)}`);
}

/** Writes down that a message was accepted. */
export function accept(history: History, shop: Shop, message: SentMessage): void {
  history.add({ kind: 'accepted', shop: shop.id, ...message });
  if (!shop.messages.some(({ key }) => key === message.key)) shop.messages.push(message);
}
