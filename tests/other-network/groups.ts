import { lidOf, numberOf } from './directory.ts';
import type { Answer, Stanza } from './library.ts';
import { childOf, refusal, result } from './stanzas.ts';

/** A group that is addressed by LID, and its first member administers it. */
export interface Group {
  readonly id: string;
  readonly name: string;
  readonly members: readonly string[];
}

/** Answers which groups the shop is in, and who is in one of them. */
export function answerGroups(group: Group): Answer {
  return (iq) => {
    if (childOf(iq, 'participating') !== undefined)
      return result(iq, [{ tag: 'groups', attrs: {}, content: [groupNode(group)] }]);
    return iq.attrs.to === group.id ? result(iq, [groupNode(group)]) : refusal(iq, 404);
  };
}

function groupNode({ id, name, members }: Group): Stanza {
  const [owner = ''] = members;
  const content = members.map((phone, index) => ({
    tag: 'participant',
    attrs: { jid: lidOf(phone), phone_number: numberOf(phone), ...(index === 0 ? { type: 'admin' } : {}) },
  }));
  const attrs = {
    id: id.slice(0, id.indexOf('@')),
    subject: name,
    addressing_mode: 'lid',
    creation: '1700000000',
    creator: lidOf(owner),
    size: String(members.length),
  };
  return { tag: 'group', attrs, content };
}
