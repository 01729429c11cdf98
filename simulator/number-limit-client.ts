import type { CappingStatus } from './number-limits.ts';

/** A restriction as the control API takes it. */
interface RestrictionCall {
  readonly active: boolean;
  readonly kind?: string;
  readonly endsInSeconds?: number;
  /** False if the server names no end. */
  readonly namesEnd?: boolean;
  /** False if the number's clients are notified only when they ask. */
  readonly announce?: boolean;
}

/** A quota as the control API takes it. */
interface NewChatsCall {
  readonly quota: number;
  readonly used?: number;
  readonly status?: CappingStatus;
  readonly endsInSeconds?: number;
  readonly announce?: boolean;
}

/** The methods of the control client that set the limits of a number. */
export function limitCalls(call: (method: string, path: string, body: object) => Promise<object>) {
  const at = (phone: string, what: string): string => `/numbers/${encodeURIComponent(phone)}/${what}`;
  return {
    /** Bars the number from new chats, or allows them again, and notifies its clients. */
    restrict: (phone: string, restriction: RestrictionCall) =>
      call('PUT', at(phone, 'restriction'), restriction),
    /** Gives the number a quota of messages to people who have not answered, and notifies its clients. */
    limitNewChats: (phone: string, newChats: NewChatsCall) => call('PUT', at(phone, 'new-chats'), newChats),
  };
}
