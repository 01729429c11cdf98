import { caller } from './caller.ts';
import { type ClientOptions, clientSettings } from './client-options.ts';
import { type ConnectOptions, connectShop } from './connect-shop.ts';
import { type EachItem, eachItem, eachShop } from './each-item.ts';
import { type EventFeed, eventFeed, type FollowOptions } from './event-feed.ts';
import { MessageOutcomes, type WaitOptions } from './message-outcomes.ts';
import type { Call, CallOptions, Methods, OperationName, Params } from './methods.ts';
import { type Channel, type Message, OPERATIONS, type Shop } from './operations.ts';

/** Flows of several calls. */
export interface Flows {
  /** Yields every shop once, newest first. A shop that is created meanwhile may be missing. */
  eachShop(options?: CallOptions): AsyncIterable<Shop>;
  /** Every message of a shop, newest first. */
  readonly eachMessage: EachItem<'listMessages'>;
  /** Every message that people wrote to a shop, newest first. */
  readonly eachInbound: EachItem<'listInbound'>;
  /** Every send of a shop that waits for its time, newest first. */
  readonly eachScheduled: EachItem<'listScheduled'>;
  /** Every batch of a shop, newest first, without forecasts. */
  readonly eachBatch: EachItem<'listBatches'>;
  /** Every declared contact of the tenant that is active; also the others with `activeOnly: 'false'`. */
  readonly eachContact: EachItem<'listContacts'>;
  /** Yields all events, in order, without end and without a gap. */
  followEvents(options?: FollowOptions): EventFeed;
  /**
   * Resolves with a message once its status is final: `sent`, `failed` or `rejected`. The last two have a `reason`. All
   * waits of a client share one reader of the events.
   */
  waitForMessage(id: string, options?: WaitOptions): Promise<Message>;
  /** Connects a shop's number: yields each new QR code, then the channel as `connected`. */
  connect(options: ConnectOptions): AsyncIterable<Channel>;
}

/**
 * A method for each operation of the API, and flows of several calls. Between calls it has no timer.
 */
export type MessagingClient = Methods & Flows;

/** Makes a client. Throws a `TypeError` for an invalid address or key. */
export function messagingClient(options: ClientOptions): MessagingClient {
  const settings = clientSettings(options);
  const call = caller(settings);
  const outcomes = new MessageOutcomes(call, settings);
  return {
    ...methodsOf(call),
    eachShop: (callOptions) => eachShop(call, callOptions),
    eachMessage: eachItem(call, 'listMessages'),
    eachInbound: eachItem(call, 'listInbound'),
    eachScheduled: eachItem(call, 'listScheduled'),
    eachBatch: eachItem(call, 'listBatches'),
    eachContact: eachItem(call, 'listContacts'),
    followEvents: (follow) => eventFeed(call, settings, follow),
    waitForMessage: (id, wait) => outcomes.wait(id, wait),
    connect: (connect) => connectShop(call, settings, connect),
  };
}

function methodsOf(call: Call): Methods {
  const names = Object.keys(OPERATIONS) as OperationName[];
  const methods = names.map((name) => [
    name,
    (params: Params<typeof name> = {} as Params<typeof name>, options?: CallOptions) =>
      call(name, params, options),
  ]);
  // Names and types are made from the same document.
  return Object.fromEntries(methods) as Methods;
}
