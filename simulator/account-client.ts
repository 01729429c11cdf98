import type { NoticeKind } from './account-notices.ts';

/** The methods of the control client that concern a number's account. */
export function accountCalls(call: <Data>(method: string, path: string, body: object) => Promise<Data>) {
  return {
    /** Makes the number's account that of a person, whose clients learn the name from the account's settings. */
    nameAccount: (phone: string, name: string) =>
      call<object>('PUT', `/numbers/${encodeURIComponent(phone)}/account-name`, { name }),
    /** Notifies a number's clients about devices, an identity or the account. `from` is the contact that it is about. */
    notify: (phone: string, notice: { kind: NoticeKind; from?: string }) =>
      call<{ ids: string[] }>('POST', `/sessions/${encodeURIComponent(phone)}/notices`, notice),
  };
}
