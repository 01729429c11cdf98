import type { ApiAnswer } from './api-client.ts';
import type { ServiceStack } from './service-stack.ts';
import { until } from './waiting.ts';

/** Connects a shop: asks for a code, scans it with the phone, polls until connected. */
export async function connectShop(stack: ServiceStack, shopId: string, phone: string): Promise<void> {
  const path = `/shops/${shopId}/channels/msgapp/connect`;
  await stack.api.post(path);
  const qr = await until('a QR code is shown', async () => {
    const poll = await stack.api.get(path);
    return poll.data.status === 'qr_waiting' && (poll.data.qr as string | undefined);
  });
  await stack.network.scan(qr, phone);
  await until('the shop is connected', async () => (await stack.api.get(path)).data.status === 'connected');
}

/** Sends a text to a number. */
export function sendText(
  stack: ServiceStack,
  shopId: string,
  message: { readonly to: string; readonly text: string; readonly idempotencyKey?: string },
): Promise<ApiAnswer> {
  return stack.api.post(`/shops/${shopId}/messages`, { channel: 'msgapp', ...message });
}

/** Waits until a message has a status; its record then. */
export async function untilStatus(
  stack: ServiceStack,
  messageId: string,
  status: string,
): Promise<Readonly<Record<string, unknown>>> {
  let last: Readonly<Record<string, unknown>> = {};
  return until(`message ${messageId} is ${status}`, async () => {
    last = (await stack.api.get(`/messages/${messageId}`)).data;
    const ended = ['sent', 'failed', 'rejected'].includes(String(last.status));
    if (ended && last.status !== status) throw new Error(`the message ended ${last.status} ${last.reason}`);
    return last.status === status && last;
  });
}
