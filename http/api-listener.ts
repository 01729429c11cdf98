import { fileURLToPath } from 'node:url';
import { API_BASE_PATH } from '../actors/base-path.ts';
import { articleLibrary } from './articles/article-library.ts';
import { articlePages } from './articles/article-pages.ts';
import type { HttpOptions } from './http-options.ts';
import { refusalCounter } from './metrics/request-metrics.ts';
import { documentPage } from './openapi/document-page.ts';
import { referencePages } from './openapi/reference.ts';
import { WaitsElsewhere } from './owner/waits-elsewhere.ts';
import { CallsInProgress } from './pipeline/calls-in-progress.ts';
import { observed } from './pipeline/observed.ts';
import { withPages } from './pipeline/pages.ts';
import { tracedEdge } from './pipeline/traced-edge.ts';
import type { Listener, SharedParts } from './shared-parts.ts';
import { FileReplies } from './tenant-api/edge/file-replies.ts';
import { tenantsEdge } from './tenant-api/edge/tenants-edge.ts';
import { EventReaders } from './tenant-api/event-streams/event-readers.ts';
import type { ApiServices } from './tenant-api/services.ts';

/** Share of a listener's slots that one tenant may use. Four tenants at their limit fill a listener. */
const TENANT_SHARE = 0.25;
const ARTICLES_FOLDER = fileURLToPath(new URL('./articles/texts/', import.meta.url));

/** Creates the services that the tenants' endpoints use. */
function apiServices(options: HttpOptions, address: { readonly publicUrl: string }): ApiServices {
  const { settings } = options;
  return {
    tenants: options.tenants,
    shops: options.shops,
    inbound: options.inbound,
    events: options.events,
    webhooks: options.webhooks,
    articles: articleLibrary(ARTICLES_FOLDER, settings, {
      apiUrl: () => address.publicUrl + API_BASE_PATH,
      publicUrl: () => address.publicUrl,
    }),
    setupUrl: (shopId) =>
      settings.setupUrlTemplate
        .replaceAll('{PUBLIC_URL}', () => address.publicUrl)
        .replaceAll('{shopId}', shopId),
  };
}

/** The tenants' listener, with its streams of events. */
interface ApiListener extends Listener<ApiServices> {
  readonly eventReaders: EventReaders;
}

/** Makes the tenants' listener: their endpoints, the articles and the reference. */
export function apiListener(options: HttpOptions, parts: SharedParts): ApiListener {
  const { clock, random, log, keys, forwarder, requestLog } = options;
  const { newId, activity, serving, address, mostInProgress } = parts;
  const services = apiServices(options, address);
  const eventReaders = new EventReaders(options);
  const waitsElsewhere = new WaitsElsewhere();
  const countRequest = parts.requestCounters('');
  const countRefusal = refusalCounter(options.metrics);
  const inProgress = new CallsInProgress(mostInProgress);
  const enter = tenantsEdge({
    services,
    serving,
    keys,
    forwarder,
    clock,
    random,
    eventReaders,
    waitsElsewhere,
    files: new FileReplies({ bounds: options.files, clock, log }),
    inProgress,
    mostInProgressOfTenant: Math.ceil(mostInProgress * TENANT_SHARE),
  });
  const pages = [documentPage(address), ...referencePages(), ...articlePages(services.articles)];
  const answer = observed(tracedEdge(withPages(pages), options.tracing), {
    clock,
    log,
    newId,
    inProgress,
    observe(request) {
      requestLog.record(request);
      activity.countRequest(request);
      countRequest(request);
      countRefusal(request);
      log.debug(request, 'request');
    },
  });
  return {
    services,
    enter,
    answer,
    inProgress,
    eventReaders,
    close() {
      eventReaders.close();
      waitsElsewhere.close();
    },
  };
}
