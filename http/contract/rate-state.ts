import type { Admission } from '../../actors/tenant/tenant-operations.ts';

/** The bucket a request consumed: the one with the fewest calls left (docs/contract.md, Rate headers). */
export type RateState = Extract<Admission, { admitted: true }>['rate'];
