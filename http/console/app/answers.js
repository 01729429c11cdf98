// @ts-check
/**
 * Replies of the operators' API, typed by its schemas.
 * @import { InferOutput } from 'valibot'
 * @import * as actors from '../../operator-api/schemas/shop-actors.ts'
 * @import { shopDetails } from '../../operator-api/schemas/shop-details.ts'
 * @import * as fleet from '../../operator-api/schemas/fleet-resources.ts'
 * @import * as accounts from '../../operator-api/resources.ts'
 * @import * as hooks from '../../../actors/reply-schemas/webhook-schemas.ts'
 * @import * as shops from '../../../actors/reply-schemas/shop-schemas.ts'
 * @import * as keys from '../../../actors/reply-schemas/account-schemas.ts'
 * @import * as operators from '../../../actors/reply-schemas/operator-schemas.ts'
 * @import * as batches from '../../../actors/reply-schemas/batch-schemas.ts'
 * @typedef {InferOutput<typeof actors.shopActor>} Shop one of a list
 * @typedef {InferOutput<typeof actors.shopInspection>} InspectedShop one on its own page
 * @typedef {Shop & Partial<Pick<InspectedShop, 'workers' | 'policy'>>} SeenShop of either kind
 * @typedef {InferOutput<typeof shopDetails>} Details of one that is loaded
 * @typedef {Details['transitions'][number]} Transition
 * @typedef {import('../../../actors/operators/resume-suspended.ts').ResumedActors & { silentNodes: string[] }} Resumed
 * @typedef {InferOutput<typeof fleet.overview>} FleetOverview
 * @typedef {FleetOverview['series'][number]} SeriesPoint
 * @typedef {InferOutput<typeof operators.node>} FleetNode
 * @typedef {InferOutput<typeof fleet.machine>} Machine
 * @typedef {InferOutput<typeof operators.deadLetter>} DeadLetter
 * @typedef {InferOutput<typeof operators.tenant>} Tenant
 * @typedef {InferOutput<typeof operators.tenantInspection>} InspectedTenant
 * @typedef {InferOutput<typeof keys.key>} ApiKey
 * @typedef {InferOutput<typeof keys.freshKey>} FreshKey
 * @typedef {InferOutput<typeof hooks.webhook>} Webhook
 * @typedef {InferOutput<typeof hooks.freshWebhook>} FreshWebhook
 * @typedef {InferOutput<typeof hooks.webhookAttempts>} WebhookAttempts
 * @typedef {WebhookAttempts['items'][number]} WebhookAttempt
 * @typedef {import('../../request-log/request-log-entry.ts').RequestLogEntry} LoggedRequest
 * @typedef {import('../../request-log/request-log-reader.ts').RefusalCount} Refusals
 * @typedef {Refusals['items'][number]} RefusalCount
 * @typedef {import('../../audit-log/audit-entry.ts').AuditEntry} Change
 * @typedef {InferOutput<typeof accounts.messageWithoutContent>} Message
 * @typedef {InferOutput<typeof operators.erasure>} RunningErasure
 * @typedef {InferOutput<typeof batches.batch>} Batch
 * @typedef {InferOutput<typeof shops.shop>} TenantShop
 * @typedef {import('../../../actors/shops/shop-operations.ts').ChannelView} Channel
 */
export {};
