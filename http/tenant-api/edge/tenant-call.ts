import type { KeyIndex } from '../../../actors/tenants/key-index.ts';
import type { MaybePromise } from '../../../runtime/maybe-promise.ts';
import type { Endpoint } from '../../contract/endpoint.ts';
import { errorReply } from '../../contract/envelope.ts';
import { failureOfThrown } from '../../contract/errors.ts';
import type { CallIds, RequestValue } from '../../contract/exchange.ts';
import type { CallWait } from '../../contract/waiting.ts';
import { type AskOwnerOptions, askNextOwner, askOwner } from '../../owner/ask-owner.ts';
import type { OwnerReply } from '../../owner/owner-reply.ts';
import { serveAsOwner, type TenantRequest } from '../../owner/serve-as-owner.ts';
import { anonymous, bodyRefusal, type EdgeCall, type EdgeReply, isReadMethod } from '../../pipeline/edge.ts';
import type { Match } from '../../pipeline/router.ts';
import type { EventReaders } from '../event-streams/event-readers.ts';
import { openStream } from '../event-streams/open-stream.ts';
import type { ApiServices } from '../services.ts';
import type { FileReplies } from './file-replies.ts';

export interface TenantCallOptions extends AskOwnerOptions<ApiServices> {
  readonly keys: Pick<KeyIndex, 'tenantOfKey'>;
  readonly eventReaders: EventReaders;
  readonly files: FileReplies;
  /** Most calls of one tenant in progress. Further ones are refused OVERLOADED. */
  readonly mostInProgressOfTenant: number;
}

/** The route, the endpoint and the key that a head names. */
interface Target {
  readonly match: Match<ApiServices>;
  readonly endpoint: Endpoint<ApiServices>;
  readonly keyHash: string;
}

/** Stands for a tenant that was not looked up yet. */
const NOT_LOOKED_UP = '';

/** A call at the tenants' edge, with a well-formed key. A call that waits keeps it, so it holds little. */
export class TenantCall implements EdgeCall {
  readonly request: RequestValue;
  readonly #match: Match<ApiServices>;
  readonly #endpoint: Endpoint<ApiServices>;
  /** SHA-256 of the key in hex. */
  readonly #keyHash: string;
  readonly #options: TenantCallOptions;
  #tenantId: MaybePromise<string | undefined> = NOT_LOOKED_UP;

  constructor(request: RequestValue, { match, endpoint, keyHash }: Target, edge: TenantCallOptions) {
    this.request = request;
    this.#match = match;
    this.#endpoint = endpoint;
    this.#keyHash = keyHash;
    this.#options = edge;
  }

  get #route(): string {
    return this.#match.route.path;
  }

  get takesBody(): boolean {
    return !isReadMethod(this.request.method);
  }

  tenant(): MaybePromise<string | undefined> {
    if (this.#tenantId === NOT_LOOKED_UP) {
      const tenantId = this.#options.keys.tenantOfKey(this.#keyHash);
      this.#tenantId = tenantId;
      if (tenantId instanceof Promise) this.#forgetFailure(tenantId);
    }
    return this.#tenantId;
  }

  /**
   * A failed look-up is repeated when the tenant is asked for again. It is separate, so that a call whose key is known
   * makes no closure (docs/decisions/012-value-or-promise.md, Closures and arrays).
   */
  #forgetFailure(lookUp: Promise<unknown>): void {
    lookUp.catch(() => {
      this.#tenantId = NOT_LOOKED_UP;
    });
  }

  answer(ids: CallIds, wait: CallWait | undefined): MaybePromise<EdgeReply> {
    const refusal = bodyRefusal(this.request, this.#route);
    if (refusal !== undefined) return refusal;
    const tenantId = this.tenant();
    return tenantId instanceof Promise
      ? this.#answerOnceFound(tenantId, ids, wait)
      : this.#answerTenant(tenantId, ids, wait);
  }

  // Separate, so that a call makes no closure (docs/decisions/012-value-or-promise.md, Closures and arrays).
  #answerOnceFound(
    tenantFound: Promise<string | undefined>,
    ids: CallIds,
    wait: CallWait | undefined,
  ): Promise<EdgeReply> {
    return tenantFound.then(
      (tenantId) => this.#answerTenant(tenantId, ids, wait),
      (error) => {
        const route = this.#route;
        this.#options.serving.log.warn({ err: error, route }, 'a key could not be looked up');
        return anonymous(errorReply(failureOfThrown(error)), route);
      },
    );
  }

  /** Answers within the tenant's share of the requests in flight. A reply that is there at once is not counted. */
  #answerTenant(
    tenantId: string | undefined,
    ids: CallIds,
    wait: CallWait | undefined,
  ): MaybePromise<EdgeReply> {
    const route = this.#route;
    if (tenantId === undefined) return anonymous(errorReply({ code: 'API_KEY_INVALID' }), route);
    const { callsOfTenants, mostInProgressOfTenant } = this.#options;
    // A call that waited was admitted before.
    if (wait === undefined && callsOfTenants.countOf(tenantId) >= mostInProgressOfTenant) {
      const message = 'Too many calls of this account are being answered; try again shortly.';
      return { reply: errorReply({ code: 'OVERLOADED', message }), route, tenantId, keyId: undefined };
    }
    return this.#ask(this.#tenantRequest(tenantId, ids), wait);
  }

  /** Asks the owner. A file or a stream is then sent by this node, whichever node the owner is. */
  #ask(request: TenantRequest, wait: CallWait | undefined): MaybePromise<EdgeReply> {
    const edge = this.#options;
    const endpoint = this.#endpoint;
    const { method, headers } = this.request;
    const { givesFile, streamed } = endpoint;
    if (givesFile) return this.#counted(askForFile(endpoint, request, method === 'HEAD', edge), request);
    if (streamed !== undefined && headers.takesEvents && method === 'GET') {
      const streamStart = { request, place: headers.lastEventId };
      return this.#counted(openStream({ endpoint, streamed }, streamStart, edge), request);
    }
    const askedRequest = wait === undefined ? request : continueRequest(request, endpoint, wait);
    if (!edge.forwarder.ownerIsLocal(request.tenantId))
      return this.#counted(askOwner(endpoint, askedRequest, edge), askedRequest);
    const reply = serveAsOwner(endpoint, askedRequest, edge.services, edge.serving);
    return reply instanceof Promise
      ? this.#counted(reply, askedRequest, true)
      : this.#replyHere(reply, askedRequest);
  }

  #tenantRequest(tenantId: string, { requestId, traceparent }: CallIds): TenantRequest {
    const { ip, query, headers, body, bodyFault, connection } = this.request;
    return {
      tenantId,
      keyHash: this.#keyHash,
      ip,
      values: this.#match.values,
      query,
      contentType: headers.contentType,
      body,
      bodyFault,
      idempotencyKey: headers.idempotencyKey,
      requestId,
      traceparent,
      connection,
    };
  }

  /** Returns this node's reply. If the tenant has moved meanwhile, asks the next owner. */
  #replyHere(reply: OwnerReply, request: TenantRequest): MaybePromise<EdgeReply> {
    if (!reply.hasMoved) return edgeReply(reply, this.#route, request.tenantId);
    return this.#counted(askNextOwner(this.#endpoint, request, reply, this.#options), request);
  }

  /**
   * Counts the call among those of its tenant in flight, until the owner has replied or its file or stream is open.
   * `isHere`: this node is the owner, and the tenant may move meanwhile.
   */
  #counted(reply: Promise<OwnerReply>, request: TenantRequest, isHere = false): Promise<EdgeReply> {
    const { callsOfTenants } = this.#options;
    const { tenantId } = request;
    callsOfTenants.add(tenantId, 1);
    // A `finally` would allocate more for each call.
    return reply.then(
      (ownerReply) => {
        callsOfTenants.add(tenantId, -1);
        return isHere ? this.#replyHere(ownerReply, request) : edgeReply(ownerReply, this.#route, tenantId);
      },
      (error) => {
        // Only a defect comes here (`EdgeResponder`). A call that stayed counted would be one less for the tenant.
        callsOfTenants.add(tenantId, -1);
        throw error;
      },
    );
  }
}

/** Asks the owner for a file, and fetches the file that it allows. */
async function askForFile(
  endpoint: Endpoint<ApiServices>,
  request: TenantRequest,
  isHead: boolean,
  edge: TenantCallOptions,
): Promise<OwnerReply> {
  const allowed = await askOwner(endpoint, request, edge);
  const { file } = allowed;
  if (file === undefined) return allowed;
  const { tenantId, connection } = request;
  return edge.files.reply({ ...allowed, file }, { tenantId, isHead, connection });
}

/** Returns the request with which a call continues after its wait. */
function continueRequest(
  request: TenantRequest,
  { waits }: Endpoint<ApiServices>,
  wait: CallWait,
): TenantRequest {
  const query = waits?.continueQuery(request.query, wait) ?? request.query;
  return { ...request, query, isContinued: true, wait };
}

/**
 * Returns the reply with its tenant. A 401 without a key gets no tenant. This node still had the key in memory, but the
 * tenant no longer has it, or was erased.
 */
function edgeReply({ reply, keyId, wait }: OwnerReply, route: string, tenantId: string): EdgeReply {
  if (keyId === undefined && reply.status === 401) return anonymous(reply, route);
  return { reply, route, tenantId, keyId, wait };
}
