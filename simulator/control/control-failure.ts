/** A problem of a request: a dotted path into its body or query, and what the value must be. */
export interface FieldProblem {
  readonly field: string;
  readonly message: string;
}

/** A control call that is refused. The answer has this status and code. */
export class ControlFailure extends Error {
  readonly status: number;
  readonly code: string;
  readonly fields: readonly FieldProblem[] | undefined;

  constructor(status: number, code: string, message: string, fields?: readonly FieldProblem[]) {
    super(message);
    this.name = 'ControlFailure';
    this.status = status;
    this.code = code;
    this.fields = fields;
  }
}
