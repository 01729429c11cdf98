import type { CommandOf, ShopCommand } from '../protocol/shop-commands.ts';
import type { ShopReplies } from '../protocol/shop-replies.ts';
import type { StoredInbound } from '../records/inbound-records.ts';
import type { StoredMessage } from '../records/message-record.ts';
import type { NumberVault } from '../records/number-vault.ts';
import type { BatchFacts } from './batches/batch-facts.ts';
import type { ShopTurnOptions } from './builder/collected-turn.ts';
import type { TurnBuilder } from './builder/turn-builder.ts';
import type { CancelFacts } from './cancel/cancel-facts.ts';
import type { DispatchFacts } from './dispatch/dispatch-facts.ts';
import type { ReceiptFacts } from './dispatch/receipt-turn.ts';
import type { InboundFacts, SenderFacts } from './inbound/inbound-facts.ts';
import type { CancelledPlace } from './number/given-back.ts';
import type { NumberFacts } from './number/number-facts.ts';
import type { CarryFacts } from './pool/carry-facts.ts';
import type { RequeueFacts } from './pool/requeue-facts.ts';
import type { ScheduledFacts } from './scheduled/scheduled-facts.ts';
import type { AcceptanceOptions } from './send/accept-message.ts';
import type { FactsOfSend } from './send/send-facts.ts';

/** The facts about a message in progress. Absent if another message is in progress by now. */
export interface FactsInProgress {
  readonly dispatch?: DispatchFacts;
}

export interface FactsOfBatch {
  readonly batch: BatchFacts;
}

/** The facts of this shop, as one of the pool, about the message of a request. */
export interface FactsOfPool {
  readonly carry: CarryFacts;
  readonly hasWorker: boolean;
}

/** The facts that a command's turn needs in addition to the shop's state. A command that is not here needs none. */
export interface CommandFacts {
  /** The stored schedule is read for a due send only. */
  readonly send: FactsOfSend & ScheduledFacts;
  readonly post_status: {
    readonly hasWorker: boolean;
    /** The status that the same idempotency key made. */
    readonly original?: StoredMessage | undefined;
  };
  readonly schedule: ScheduledFacts;
  readonly unschedule: ScheduledFacts;
  readonly create_batch: FactsOfBatch;
  readonly add_recipients: FactsOfBatch;
  readonly steer_batch: FactsOfBatch;
  readonly cancel: { readonly cancel: CancelFacts };
  readonly cancel_queue: { readonly cancel: CancelFacts };
  /** The inbound message to mark as read. Absent if it was removed. */
  readonly mark_read: { readonly toMarkRead?: StoredInbound | undefined };
  readonly first_look: FactsInProgress;
  /** The facts about a message that no pool shop has taken. */
  readonly requeue: { readonly requeue: RequeueFacts };
  /** The head of the shop's list. */
  readonly cut_accepted: { readonly oldest: readonly string[] };
  readonly 'pool.offer': FactsOfPool;
  readonly 'pool.take': FactsOfPool;
  readonly 'pool.withdraw': FactsOfPool;
  /** The facts about a message that was cancelled at the pool. */
  readonly 'pool.answered': { readonly cancelledAtPool?: CancelledPlace | undefined };
  /** The person who opted out at the pool. */
  readonly 'pool.opt_out': { readonly sender: SenderFacts };
  /** The number that the network reported before for the looked-up recipient, if another. */
  readonly 'session.recipient_known': { readonly alias?: string };
  readonly 'session.prepared': FactsInProgress;
  /** The tenant's facts about the number that was just connected. */
  readonly 'session.connected': { readonly number: NumberFacts };
  /** The facts about an inbound message of the shop's session. */
  readonly 'session.inbound': { readonly received: InboundFacts };
  /** The receipts that belong to messages of the shop. */
  readonly 'session.receipts': { readonly receipts: ReceiptFacts };
}

export type NoFacts = Readonly<Record<never, never>>;

/** The facts for a command of the type. */
export type FactsOf<Type extends ShopCommand['type']> = Type extends keyof CommandFacts
  ? CommandFacts[Type]
  : NoFacts;

export type ShopFacts = FactsOf<ShopCommand['type']>;

/** The options of decisions. */
export interface DecisionOptions extends AcceptanceOptions, Pick<ShopTurnOptions, 'times'> {
  readonly vault: NumberVault;
}

/** Decides a command of the type with the builder. Returns the reply, if the command has one. */
export type ShopTurn<Type extends ShopCommand['type']> = (
  builder: TurnBuilder,
  command: CommandOf<Type>,
  facts: FactsOf<Type>,
  options: DecisionOptions,
) => Type extends keyof ShopReplies ? ShopReplies[Type] : void;

/** The turns that decide commands. The compiler requires one for each type, with its facts and its reply. */
export type ShopTurns = { readonly [Type in ShopCommand['type']]: ShopTurn<Type> };
