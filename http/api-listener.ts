import { fileURLToPath } from 'node:url';
import { API_BASE_PATH } from '../actors/base-paths.ts';
import { articleLibrary } from './articles/article-library.ts';
import { articlePages } from './articles/article-pages.ts';
import type { HttpOptions } from './http-options.ts';
import { countRefusals } from './metrics/request-metrics.ts';
import { documentPage } from './openapi/document-page.ts';
import { referencePages } from './openapi/reference.ts';
import { CallsInProgress } from './pipeline/calls-in-progress.ts';
import { observed } from './pipeline/observed.ts';
import { withPages } from './pipeline/pages.ts';
import { tracedEdge } from './pipeline/traced-edge.ts';
import type { Listener, SharedParts } from './shared-parts.ts';
import { tenantsEdge } from './tenant-api/edge/tenants-edge.ts';
import type { ApiServices } from './tenant-api/services.ts';

/** Share of a listener's slots that one tenant may use. Four tenants at their limit fill a listener. */
const TENANT_SHARE = 0.25;
const ARTICLES_FOLDER = fileURLToPath(new URL('./articles/texts/', import.meta.url));

/** Creates the services that the tenants' endpoints use. */
export function apiServices(options: HttpOptions, address: { readonly publicUrl: string }): ApiServices {
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

/** The tenants' listener: their endpoints, the articles and the reference. */
export function apiListener(options: HttpOptions, parts: SharedParts, services: ApiServices): Listener {
  const { clock, random, log, keys, forwarder, requestLog } = options;
  const { newId, activity, serving, address, maxInFlight } = parts;
  const countRequest = parts.count('');
  const countRefusal = countRefusals(options.metrics);
  const inProgress = new CallsInProgress(maxInFlight);
  const enter = tenantsEdge({
    services,
    serving,
    keys,
    forwarder,
    clock,
    random,
    eventReaders: parts.eventReaders,
    waitsElsewhere: parts.waitsElsewhere,
    files: parts.files,
    inProgress,
    maxInFlightPerTenant: Math.ceil(maxInFlight * TENANT_SHARE),
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
  return { enter, answer, inProgress };
}
