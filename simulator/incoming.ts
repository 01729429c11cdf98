import type { BinaryNode } from '@whiskeysockets/baileys';
import type { Companion } from './companions.ts';

/** A stanza on its way to handsets. */
export interface Incoming {
  readonly sender: Companion;
  readonly stanza: BinaryNode;
  /** The group's id, or null. */
  readonly group: string | null;
  readonly isStatus: boolean;
  readonly composingSeen: boolean;
  /** Takes the receipts. They reach the sender after the acknowledgement of its stanza. */
  readonly receipt: (receipt: BinaryNode) => void;
}
