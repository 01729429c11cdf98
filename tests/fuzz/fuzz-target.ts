import type { Draw } from './draw.ts';

/** One edge that parses what others wrote. */
export interface FuzzTarget {
  readonly name: string;
  /** Starts what the cases are tried on. */
  open(): Promise<OpenTarget>;
}

/** A target that is being tried. */
export interface OpenTarget {
  /** Tries one case. A rejection is a defect. `note` reports the case's input. */
  tryCase(draw: Draw, note: (input: unknown) => void): Promise<void>;
  /** Looks at last whether all still works, and ends. */
  close(): Promise<void>;
}

/** A case that broke a promise. */
export interface Defect {
  readonly target: string;
  /** With the seed it gives the case again. */
  readonly number: number;
  readonly what: string;
  readonly input: string;
}

/** The cases and defects of a target. */
export interface TargetReport {
  readonly target: string;
  readonly cases: number;
  readonly defects: readonly Defect[];
}
