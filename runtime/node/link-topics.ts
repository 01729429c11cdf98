import { RuntimeFailure } from '../runtime-failure.ts';
import type { NodeLink } from './node-link.ts';

/** The calls of one topic between nodes, with the promises of `NodeLink`. */
export type LinkTopic = Pick<NodeLink, 'call' | 'serve'>;

/**
 * Lets several parts of a node communicate over its one link. A payload is sent as the topic's name, a line break and
 * the part's own payload. It uses the link's only handler.
 */
export function linkTopics(link: Pick<NodeLink, 'call' | 'serve'>): (name: string) => LinkTopic {
  const handlers = new Map<string, (payload: string) => Promise<string>>();
  link.serve(async (message) => {
    const end = message.indexOf('\n');
    const name = message.slice(0, end);
    const handler = handlers.get(name);
    if (handler === undefined)
      throw new RuntimeFailure('SHARD_NOT_OWNED', `this node does not serve ${name} yet`, 1);
    return await handler(message.slice(end + 1));
  });
  return (name) => ({
    call: (target, payload, timeoutMs) => link.call(target, `${name}\n${payload}`, timeoutMs),
    serve: (handler) => void handlers.set(name, handler),
  });
}
