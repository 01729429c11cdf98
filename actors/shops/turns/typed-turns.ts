import type { CommandOf, ShopCommand } from '../protocol/shop-commands.ts';
import type { TurnReplies } from '../protocol/shop-replies.ts';
import type { NumberVault } from '../records/number-vault.ts';
import type { TurnBuilder } from './builder/turn-builder.ts';
import type { AcceptanceOptions } from './send/accept-message.ts';
import type { FactsOf } from './shop-facts.ts';

export interface DecisionOptions extends AcceptanceOptions {
  readonly vault: NumberVault;
}

/** Decides a command of the type with the builder. Returns the reply, if the command has one. */
type ShopTurn<Type extends ShopCommand['type']> = (
  builder: TurnBuilder,
  command: CommandOf<Type>,
  facts: FactsOf<Type>,
  options: DecisionOptions,
) => Type extends keyof TurnReplies ? TurnReplies[Type] : void;

/** The turns that decide commands. The compiler requires one for each type, with its facts and its reply. */
export type ShopTurns = { readonly [Type in ShopCommand['type']]: ShopTurn<Type> };
