import { API_BASE_PATH } from '../../actors/base-path.ts';
import { JSON_TYPE } from '../contract/envelope.ts';
import { headerLines } from '../contract/exchange.ts';
import { type Page, pageOnRequest } from '../pipeline/pages.ts';
import { API_SCHEMAS } from '../tenant-api/api-schemas.ts';
import { API_ENDPOINTS } from '../tenant-api/endpoints.ts';
import { openApiDocument } from './openapi.ts';

const DESCRIPTION = `Connect a shop's number, send messages and statuses from it, and follow their delivery.
[Getting started](docs/getting-started) leads to the first message.

- A key goes into \`Authorization: Bearer\` or \`X-API-Key\`. It belongs on a server. No reply to a call has CORS headers.
- Every reply has \`X-Request-Id\`. Every reply to an accepted key has the four rate headers, but a 503 may have none.
- An unknown path gets 404 \`NOT_FOUND\`. An unknown method gets 405 \`METHOD_NOT_ALLOWED\` with \`Allow\`.
- Each path with GET also has HEAD. It is counted and answered like GET, without the body.
- A \`traceparent\` of W3C Trace Context is kept with the log of the call and the record of the message.`;

export function tenantsDocument(address: { readonly publicUrl: string }): Record<string, unknown> {
  return openApiDocument({
    title: 'Tenant Messaging API',
    description: DESCRIPTION,
    serverUrl: address.publicUrl + API_BASE_PATH,
    contact: { url: `${address.publicUrl}/docs` },
    security: 'api-key',
    endpoints: API_ENDPOINTS,
    namedSchemas: API_SCHEMAS,
  });
}

/**
 * Returns the page `/openapi.json` (docs/contract.md, Versioning). It is made on its first request, because the public
 * address may be unknown before.
 */
export function documentPage(address: { readonly publicUrl: string }): Page {
  return pageOnRequest('/openapi.json', () => ({
    contentType: JSON_TYPE,
    headers: headerLines({ 'Access-Control-Allow-Origin': '*' }),
    body: JSON.stringify(tenantsDocument(address)),
  }));
}
