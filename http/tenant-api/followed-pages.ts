import type { Endpoint } from '../contract/endpoint.ts';
import type { FollowDeclaration } from '../contract/waiting.ts';
import type { OwnerReply, TenantRequest } from '../owner/serve-as-owner.ts';
import { askOwner, type OwnerWays } from './ask-owner.ts';
import type { EventReaders, StreamAsked } from './event-readers.ts';
import type { ApiServices } from './services.ts';

/** An endpoint whose pages are given one after another. */
export interface FollowedEndpoint {
  readonly endpoint: Endpoint<ApiServices>;
  readonly followed: FollowDeclaration;
}

/**
 * Returns the pages of the endpoint after `place` as a reply that stays open. The first one is the call, and is
 * counted.
 */
export async function openStream(
  { endpoint, followed }: FollowedEndpoint,
  { request, place }: { readonly request: TenantRequest; readonly place: string },
  ways: OwnerWays & { readonly eventReaders: EventReaders },
): Promise<OwnerReply> {
  const asked = { ...request, query: followed.page(request.query, place, 0) };
  const first = await askOwner(endpoint, asked, ways);
  return ways.eventReaders.open(first, new NextPages({ endpoint, followed }, asked, ways));
}

/** The pages of a stream after its first one. */
class NextPages implements StreamAsked {
  readonly #pages: FollowedEndpoint;
  readonly #first: TenantRequest;
  readonly #ways: OwnerWays;

  constructor(pages: FollowedEndpoint, first: TenantRequest, ways: OwnerWays) {
    this.#pages = pages;
    this.#first = first;
    this.#ways = ways;
  }

  get tenantId(): string {
    return this.#first.tenantId;
  }

  next(cursor: string, { waitMs, wait, isCounted }: Parameters<StreamAsked['next']>[1]): Promise<OwnerReply> {
    const { endpoint, followed } = this.#pages;
    const query = followed.page(this.#first.query, cursor, waitMs);
    return askOwner(endpoint, { ...this.#first, query, isContinued: true, isCounted, wait }, this.#ways);
  }
}
