import type { Endpoint } from '../contract/endpoint.ts';
import type { StreamDeclaration } from '../contract/waiting.ts';
import type { OwnerReply } from '../owner/owner-reply.ts';
import type { TenantRequest } from '../owner/serve-as-owner.ts';
import { type AskOwnerOptions, askOwner } from './ask-owner.ts';
import type { EventReaders } from './event-readers.ts';
import type { StreamSource } from './reader-stream.ts';
import type { ApiServices } from './services.ts';

/** An endpoint whose pages a stream sends one after another. */
export interface StreamedEndpoint {
  readonly endpoint: Endpoint<ApiServices>;
  readonly streamed: StreamDeclaration;
}

/** Returns a reply that stays open and sends the pages after `place`. The first page is the call. */
export async function openStream(
  { endpoint, streamed }: StreamedEndpoint,
  { request, place }: { readonly request: TenantRequest; readonly place: string },
  options: AskOwnerOptions & { readonly eventReaders: EventReaders },
): Promise<OwnerReply> {
  const first = { ...request, query: streamed.page(request.query, place, 0) };
  const reply = await askOwner(endpoint, first, options);
  return options.eventReaders.open(reply, new NextPages({ endpoint, streamed }, first, options));
}

/** The pages of a stream after its first one. */
class NextPages implements StreamSource {
  readonly #pages: StreamedEndpoint;
  readonly #first: TenantRequest;
  readonly #options: AskOwnerOptions;

  constructor(pages: StreamedEndpoint, first: TenantRequest, options: AskOwnerOptions) {
    this.#pages = pages;
    this.#first = first;
    this.#options = options;
  }

  get tenantId(): string {
    return this.#first.tenantId;
  }

  next(
    cursor: string,
    { waitMs, wait, isCounted }: Parameters<StreamSource['next']>[1],
  ): Promise<OwnerReply> {
    const { endpoint, streamed } = this.#pages;
    const query = streamed.page(this.#first.query, cursor, waitMs);
    return askOwner(endpoint, { ...this.#first, query, isContinued: true, isCounted, wait }, this.#options);
  }
}
