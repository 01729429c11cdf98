/** A mutant no test can notice, and why. */
export interface LivingMutant {
  readonly file: string;
  /** The broken line. */
  readonly after: string;
  readonly why: string;
}

/** Every mutant that survives `mutants.ts`, explained. */
export const livingMutants: readonly LivingMutant[] = [];
