import { messagingClient } from 'tenant-messaging-client';

const { API_URL = 'http://127.0.0.1:3000/api/v1', API_KEY } = process.env;
if (API_KEY === undefined) throw new Error('Set API_KEY to a key of the tenant.');

/** The API of `bin/dev`, or the one at API_URL. */
export const api = messagingClient({
  baseUrl: API_URL,
  apiKey: API_KEY,
  onRetry: ({ message }, pauseMs) => console.error(`again in ${Math.round(pauseMs)} ms: ${message}`),
});
