import { isGroupAddress, phoneDigits } from './addresses.ts';
import { ControlFailure, type FieldProblem } from './control-failure.ts';

/**
 * Reads the fields of a request and gathers everything that is wrong with them. Values read before `check()` are
 * stand-ins when their field was bad.
 */
export class FieldReader {
  readonly #source: Readonly<Record<string, unknown>>;
  readonly #known = new Set<string>();
  readonly #problems: FieldProblem[] = [];

  constructor(source: Readonly<Record<string, unknown>>) {
    this.#source = source;
  }

  /** A phone number; the answer has digits only. */
  phone(field: string): string {
    const digits = phoneDigits(this.#take(field));
    if (digits === undefined) this.#problem(field, 'must be a phone number: + and 7 to 15 digits');
    return digits ?? '';
  }

  /** A phone number's digits or a group's id. */
  phoneOrGroup(field: string): string {
    const value = this.#take(field);
    if (typeof value === 'string' && isGroupId(value)) return value;
    const digits = phoneDigits(value);
    if (digits === undefined) this.#problem(field, 'must be a phone number or a group id ending in @g.us');
    return digits ?? '';
  }

  groupId(field: string): string {
    const value = this.#take(field);
    if (typeof value === 'string' && isGroupId(value)) return value;
    this.#problem(field, 'must be a group id: digits and dashes, ending in @g.us');
    return '';
  }

  phones(field: string, fallback?: readonly string[]): string[] {
    const value = this.#take(field);
    if (value === undefined && fallback) return [...fallback];
    if (!Array.isArray(value)) {
      this.#problem(field, 'must be a list of phone numbers');
      return [];
    }
    const digits = value.map((item, index) => {
      const phone = phoneDigits(item);
      if (phone === undefined)
        this.#problem(`${field}.${index}`, 'must be a phone number: + and 7 to 15 digits');
      return phone ?? '';
    });
    return [...new Set(digits)];
  }

  text(field: string, options: { most: number; fallback?: string }): string {
    const value = this.#take(field) ?? options.fallback;
    if (typeof value === 'string' && value.length > 0 && value.length <= options.most) return value;
    if (typeof value === 'string' && value === options.fallback) return value;
    this.#problem(field, `must be text of 1 to ${options.most} characters`);
    return '';
  }

  /** Texts by name; none where the field is missing. */
  texts(field: string, { most }: { most: number }): Record<string, string> {
    const value = this.#take(field) ?? {};
    const entries = typeof value === 'object' && !Array.isArray(value) ? Object.entries(value) : undefined;
    const isText = ([, text]: [string, unknown]): boolean => typeof text === 'string' && text.length <= most;
    if (entries?.every(isText)) return Object.fromEntries(entries) as Record<string, string>;
    this.#problem(field, `must be an object of texts of at most ${most} characters`);
    return {};
  }

  flag(field: string, fallback?: boolean): boolean {
    const value = this.#take(field) ?? fallback;
    if (typeof value === 'boolean') return value;
    this.#problem(field, 'must be true or false');
    return false;
  }

  whole(field: string, options: { least: number; most: number; fallback?: number }): number {
    const taken = this.#take(field);
    const value =
      typeof taken === 'string' && /^\d+$/.test(taken) ? Number(taken) : (taken ?? options.fallback);
    if (Number.isInteger(value) && (value as number) >= options.least && (value as number) <= options.most) {
      return value as number;
    }
    this.#problem(field, `must be a whole number from ${options.least} to ${options.most}`);
    return options.least;
  }

  oneOf<Choice extends string>(field: string, choices: readonly Choice[], fallback?: Choice): Choice {
    const value = this.#take(field) ?? fallback;
    const choice = choices.find((candidate) => candidate === value);
    if (choice === undefined) this.#problem(field, `must be one of ${choices.join(', ')}`);
    return choice ?? (choices[0] as Choice);
  }

  /** Reports a problem between fields. */
  refuse(field: string, message: string): void {
    this.#problem(field, message);
  }

  /** @throws ControlFailure 422 naming every bad and every unknown field. */
  check(): void {
    for (const field of Object.keys(this.#source)) {
      if (!this.#known.has(field)) this.#problem(field, 'is not known here');
    }
    if (this.#problems.length === 0) return;
    const summary = this.#problems.map(({ field, message }) => `${field} ${message}`).join('; ');
    throw new ControlFailure(422, 'VALIDATION_ERROR', summary, this.#problems);
  }

  #take(field: string): unknown {
    this.#known.add(field);
    return this.#source[field];
  }

  #problem(field: string, message: string): void {
    this.#problems.push({ field, message });
  }
}

const isGroupId = (value: string): boolean => isGroupAddress(value) && /^[\d-]{1,60}@g\.us$/.test(value);
