// @ts-check
/** A shop's status in one sentence: the first thing an operator with a complaint needs. */
import {
  ofGroups,
  ofHold,
  ofLimits,
  ofMailbox,
  ofPacing,
  ofTenant,
  ofUndelivered,
  ofWindows,
  well,
} from './sending-status.js';
import { ofChannel, ofLoss, ofRefusal, ofWorkers } from './session-status.js';
/** @import { SeenShop, Shop } from '../answers.js' */
/** @import { Said } from './said.js' */

/**
 * @param {SeenShop} shop a snapshot
 * @returns {Said}
 */
export function shopStatus(shop) {
  const { details } = shop;
  const kept = ofActor(shop);
  if (kept !== undefined) return kept;
  if (details === null) return { tone: 'calm', text: 'It is being loaded.' };
  return (
    ofWorkers(shop, details) ??
    ofTenant(details) ??
    ofHold(details) ??
    ofLoss(details) ??
    ofRefusal(details) ??
    ofChannel(details) ??
    ofUndelivered(details) ??
    ofPacing(details) ??
    ofMailbox(shop) ??
    ofGroups(details) ??
    ofLimits(details) ??
    ofWindows(shop) ??
    well(details)
  );
}

/**
 * Explains why an actor, a shop's or a tenant's, does not run.
 * @param {Pick<Shop, 'status' | 'restarts' | 'lastError'>} actor
 * @returns {Said | undefined}
 */
export function ofActor({ status, restarts, lastError }) {
  const why = lastError === undefined ? '' : ` The last error: ${lastError.message}`;
  if (status === 'suspended') {
    return {
      tone: 'bad',
      // A restarted node knows that the actor is suspended, but not how often it crashed.
      text: `Suspended after ${restarts === 0 ? 'too many' : restarts} crashes.${why}`,
      todo: 'Find and remove the cause, then resume.',
    };
  }
  if (status === 'backoff') return { tone: 'warn', text: `Crashed and waits to start again.${why}` };
  return undefined;
}
