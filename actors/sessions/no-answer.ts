import { ValueFreeError } from '../../runtime/described-error.ts';

/** The network or the store did not answer in time, or left out the part that was asked for. */
export class NoAnswer extends ValueFreeError {}
