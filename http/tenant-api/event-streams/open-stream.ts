import type { FieldProblem } from '../../../actors/failure.ts';
import type { Endpoint } from '../../contract/endpoint.ts';
import type { StreamDeclaration } from '../../contract/waiting.ts';
import { type AskOwnerOptions, askOwner } from '../../owner/ask-owner.ts';
import type { OwnerReply } from '../../owner/owner-reply.ts';
import type { TenantRequest } from '../../owner/serve-as-owner.ts';
import type { ApiServices } from '../services.ts';
import type { EventReaders } from './event-readers.ts';
import type { StreamSource } from './reader-stream.ts';

/** An endpoint whose pages a stream sends one after another. */
export interface StreamedEndpoint {
  readonly endpoint: Endpoint<ApiServices>;
  readonly streamed: StreamDeclaration;
}

/** Returns a reply that stays open and sends the pages after `place`. The first page is the call. */
export async function openStream(
  { endpoint, streamed }: StreamedEndpoint,
  { request, place }: { readonly request: TenantRequest; readonly place: string },
  options: AskOwnerOptions<ApiServices> & { readonly eventReaders: EventReaders },
): Promise<OwnerReply> {
  const first = { ...request, query: streamed.page(request.query, place, 0) };
  const ownerReply = await askOwner(endpoint, first, options);
  const reply = place === '' ? ownerReply : namingHeader(ownerReply);
  return options.eventReaders.open(reply, new NextPages({ endpoint, streamed }, first, options));
}

/** Names the header in the problems of a cursor that came from it. The caller's query has none, or another one. */
function namingHeader(ownerReply: OwnerReply): OwnerReply {
  const { reply } = ownerReply;
  if (reply.status !== 422) return ownerReply;
  const { error, ...failure } = JSON.parse(String(reply.body)) as { error: { fields?: FieldProblem[] } };
  const fields = error.fields?.map((problem) =>
    problem.field === 'cursor' ? { ...problem, field: 'last-event-id' } : problem,
  );
  return {
    ...ownerReply,
    reply: { ...reply, body: JSON.stringify({ ...failure, error: { ...error, fields } }) },
  };
}

/** The pages of a stream after its first one. */
class NextPages implements StreamSource {
  readonly #pages: StreamedEndpoint;
  readonly #first: TenantRequest;
  readonly #options: AskOwnerOptions<ApiServices>;

  constructor(pages: StreamedEndpoint, first: TenantRequest, options: AskOwnerOptions<ApiServices>) {
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
