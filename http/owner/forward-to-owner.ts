import { decodeOwnerReply, encodeForwarded, type NodeRequest } from './forwarded-form.ts';
import type { Forwarder } from './forwarder.ts';
import { type OwnerReply, replyToUnforwarded } from './owner-reply.ts';

/**
 * Forwards a request to the tenant's owner, before it returns, and resolves with the owner's reply. `timeoutMs`: the
 * time that is left, at least 1 ms. Never rejects.
 */
export async function forwardToOwner(
  forwarder: Pick<Forwarder, 'forward'>,
  tenantId: string,
  nodeRequest: NodeRequest,
  timeoutMs: number,
): Promise<OwnerReply> {
  try {
    const payload = encodeForwarded(nodeRequest);
    return decodeOwnerReply(await forwarder.forward(tenantId, payload, Math.max(1, timeoutMs)));
  } catch (error) {
    return replyToUnforwarded(error);
  }
}
