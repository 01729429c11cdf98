import type { Stanza } from './library.ts';
import { childOf, childrenOf, result, SERVER } from './stanzas.ts';

/** A person's number, in digits, under the network's own id. */
export const lidOf = (phone: string): string => `1${phone.slice(1).padStart(14, '0')}@lid`;

export const numberOf = (phone: string): string => `${phone.slice(1)}@${SERVER}`;

/**
 * The users of the network. It answers usync like the real server (vinikjkkj/zapo, src/client/usync). There is a row
 * for each user asked for, and the error of a protocol is inside the result.
 */
export class Directory {
  readonly #devices = new Map<string, readonly number[]>();
  /** While set, look-ups of numbers get this error: its code and how long to wait, in seconds. */
  throttled: { readonly code: number; readonly backoff: number } | undefined;

  add(phone: string, devices: readonly number[] = [0]): void {
    this.#devices.set(phone, devices);
  }

  answer(iq: Stanza): Stanza {
    const usync = childOf(iq, 'usync');
    const asked = childrenOf(childOf(usync, 'query')).map(({ tag }) => tag);
    const isThrottled = this.throttled !== undefined && asked.includes('contact');
    const users = isThrottled ? [] : childrenOf(childOf(usync, 'list'), 'user');
    const results = asked.map((tag) => ({
      tag,
      attrs: {},
      content: isThrottled && tag === 'contact' ? [errorOf(this.throttled)] : [],
    }));
    return result(iq, [
      {
        tag: 'usync',
        attrs: { sid: usync?.attrs.sid ?? '', mode: 'query', last: 'true', index: '0' },
        content: [
          { tag: 'result', attrs: {}, content: results },
          { tag: 'list', attrs: {}, content: users.map((user) => this.#row(user, asked)) },
        ],
      },
    ]);
  }

  #row(user: Stanza, asked: readonly string[]): Stanza {
    const contact = childOf(user, 'contact')?.content;
    const text = contact === undefined ? undefined : Buffer.from(contact as Uint8Array).toString();
    const jid = user.attrs.jid ?? `${text?.replace(/\D/g, '')}@${SERVER}`;
    const phone = [...this.#devices.keys()].find((each) => [lidOf(each), numberOf(each)].includes(jid));
    if (phone === undefined) return { tag: 'user', attrs: { jid }, content: [contactRow('out')] };
    const devices = (this.#devices.get(phone) ?? []).map((id) => ({
      tag: 'device',
      attrs: { id: String(id), ...(id > 0 ? { 'key-index': String(id) } : {}) },
    }));
    const parts: Readonly<Record<string, Stanza>> = {
      contact: contactRow('in'),
      lid: { tag: 'lid', attrs: { val: lidOf(phone) } },
      devices: { tag: 'devices', attrs: {}, content: [{ tag: 'device-list', attrs: {}, content: devices }] },
    };
    // A row that is keyed by LID carries none.
    const wantedPhones = asked.filter((tag) => tag !== 'lid' || jid === numberOf(phone));
    return { tag: 'user', attrs: { jid }, content: wantedPhones.flatMap((tag) => parts[tag] ?? []) };
  }
}

const contactRow = (type: string): Stanza => ({ tag: 'contact', attrs: { type } });

function errorOf(throttled: Directory['throttled']): Stanza {
  const { code = 429, backoff = 0 } = throttled ?? {};
  return { tag: 'error', attrs: { code: String(code), text: 'rate-overlimit', backoff: String(backoff) } };
}
