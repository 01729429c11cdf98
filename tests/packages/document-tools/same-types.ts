/**
 * The client's types against those that `openapi-typescript` makes of the same document. Compiled beside both by
 * tests/http/openapi/document-tools.test.ts: where they differ, the compiler names the operation and the part of it.
 */
import type { operations } from './api.ts';
import type { Operations } from './client-operations.ts';

type Success = 200 | 201 | 202;

type Part<Of, Name extends string> = Of extends { readonly [name in Name]?: infer Found }
  ? [Found] extends [undefined]
    ? object
    : NonNullable<Found>
  : object;
type Json<Of> = Of extends { readonly content: { readonly 'application/json': infer Body } } ? Body : object;

/** A body without fields takes nothing, as no body does. */
type Body<Of> = Json<Of> extends Readonly<Record<string, never>> ? object : Json<Of>;
type Data<Responses> = {
  [Status in keyof Responses & Success]: Json<Responses[Status]> extends { readonly data: infer Found }
    ? Found
    : never;
}[keyof Responses & Success];

/** Their input as one object. The client sends the idempotency key of a header if its operation has it. */
type Taken<Of> = Part<Part<Of, 'parameters'>, 'path'> &
  Part<Part<Of, 'parameters'>, 'query'> &
  Body<Part<Of, 'requestBody'>>;
type WithoutKey<Params> = { [Name in keyof Params as Exclude<Name, 'idempotencyKey'>]: Params[Name] };

type Equal<One, Other> = [One] extends [Other] ? ([Other] extends [One] ? true : false) : false;

type Difference<Mine extends Operations[keyof Operations], Theirs> = Theirs extends {
  readonly responses: infer Responses;
}
  ?
      | (Equal<Mine['data'], Data<Responses>> extends true ? never : 'data')
      | (Equal<Mine['status'], keyof Responses & Success> extends true ? never : 'status')
      | (Equal<WithoutKey<Mine['params']>, WithoutKey<Taken<Theirs>>> extends true ? never : 'params')
      // For optional parameters, equality does not show that one side lacks them.
      | (Equal<keyof WithoutKey<Mine['params']>, keyof WithoutKey<Taken<Theirs>>> extends true
          ? never
          : 'names')
  : 'responses';

/** Operations whose success is a file. Theirs is typed `string`, and the client returns a stream. */
type Files = 'readInboundMedia';

type Differences = {
  [Name in Exclude<keyof Operations, Files>]: Name extends keyof operations
    ? `${Name}: ${Difference<Operations[Name], operations[Name]>}`
    : `${Name}: unknown`;
}[Exclude<keyof Operations, Files>];

type Known<Name extends never> = Name;
/** Both compile while there is nothing to name. */
export type NoDifference = Known<Differences>;
export type NothingMissing = Known<Exclude<keyof operations, keyof Operations>>;
