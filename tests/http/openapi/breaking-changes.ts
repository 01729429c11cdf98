type Json = Readonly<Record<string, unknown>>;

/** Keywords whose numbers limit the accepted values, and true if a smaller one is stricter. */
const BOUNDS: readonly (readonly [keyword: string, smallerIsStricter: boolean])[] = [
  ...(['maxLength', 'maxItems', 'maximum', 'maxProperties'] as const).map(
    (keyword) => [keyword, true] as const,
  ),
  ...(['minLength', 'minItems', 'minimum', 'minProperties'] as const).map(
    (keyword) => [keyword, false] as const,
  ),
];

/** Keywords that must stay unchanged, because it is unknown whether another value refuses more. */
const FIXED = ['pattern', 'format', 'multipleOf', 'uniqueItems'];

/**
 * Returns a sentence for each change from an older OpenAPI document to a newer one that breaks a program written for
 * the older. Something is gone, a request is refused that was accepted, or a reply lacks a field. An addition is no
 * such change.
 */
export function breakingChanges(older: Json, newer: Json): readonly string[] {
  return new Comparison(older, newer).paths();
}

class Comparison {
  readonly #older: Json;
  readonly #newer: Json;

  constructor(older: Json, newer: Json) {
    this.#older = older;
    this.#newer = newer;
  }

  paths(): readonly string[] {
    const newerPart = part(this.#newer, 'paths');
    return Object.entries(part(this.#older, 'paths')).flatMap(([path, methods]) =>
      Object.entries(methods as Json).flatMap(([method, operation]) => {
        const place = `${method.toUpperCase()} ${path}`;
        const other = part(newerPart, path)[method];
        return other === undefined
          ? [`${place} is gone`]
          : this.#operation(place, operation as Json, other as Json);
      }),
    );
  }

  #operation(place: string, older: Json, newer: Json): readonly string[] {
    return [
      ...this.#parameters(place, older, newer),
      ...this.#body(place, older, newer),
      ...Object.entries(part(older, 'responses')).flatMap(([status, reply]) => {
        const other = part(newer, 'responses')[status];
        if (other === undefined) return [`${place}: the reply ${status} is gone`];
        return this.#reply(`${place}, ${status}`, this.#in(this.#older, reply), this.#in(this.#newer, other));
      }),
    ];
  }

  #parameters(place: string, older: Json, newer: Json): readonly string[] {
    const [olderPart, newerPart] = [this.#named(this.#older, older), this.#named(this.#newer, newer)];
    const added = [...newerPart].filter(
      ([name, parameter]) => !olderPart.has(name) && parameter.required === true,
    );
    return [
      ...added.map(([name]) => `${place}: ${name} is required now`),
      ...[...olderPart].flatMap(([name, parameter]) => {
        const other = newerPart.get(name);
        if (other === undefined) return [`${place}: ${name} is gone`];
        const must = other.required === true && parameter.required !== true;
        return [
          ...(must ? [`${place}: ${name} is required now`] : []),
          ...this.#request(`${place}: ${name}`, part(parameter, 'schema'), part(other, 'schema')),
        ];
      }),
    ];
  }

  #named(document: Json, operation: Json): ReadonlyMap<string, Json> {
    const parameters = ((operation.parameters ?? []) as readonly unknown[]).map((each) =>
      this.#in(document, each),
    );
    return new Map(parameters.map((each) => [`${each.in} ${each.name}`, each]));
  }

  #body(place: string, older: Json, newer: Json): readonly string[] {
    const [olderPart, newerPart] = [part(older, 'requestBody'), part(newer, 'requestBody')];
    const must =
      newerPart.required === true && olderPart.required !== true ? [`${place}: a body is required now`] : [];
    return [
      ...must,
      ...this.#content(place, olderPart, newerPart, (...schemas) => this.#request(...schemas)),
    ];
  }

  #reply(place: string, older: Json, newer: Json): readonly string[] {
    return this.#content(place, older, newer, (...schemas) => this.#answer(...schemas));
  }

  #content(
    place: string,
    older: Json,
    newer: Json,
    compare: (place: string, older: Json, newer: Json) => readonly string[],
  ): readonly string[] {
    return Object.entries(part(older, 'content')).flatMap(([type, media]) => {
      const { schema } = media as Json;
      const other = part(newer, 'content')[type] as Json | undefined;
      if (other === undefined) return [`${place}: ${type} is gone`];
      return schema === undefined ? [] : compare(place, schema as Json, (other.schema ?? {}) as Json);
    });
  }

  /** Checks that accepted requests still are. */
  #request(place: string, olderPart: Json, newerPart: Json): readonly string[] {
    const [older, newer] = [this.#in(this.#older, olderPart), this.#in(this.#newer, newerPart)];
    const stricter = BOUNDS.filter(([keyword, smaller]) =>
      isStricter(older[keyword], newer[keyword], smaller),
    );
    const fixed = FIXED.filter(
      (keyword) => newer[keyword] !== undefined && !isKept(older[keyword], newer[keyword]),
    );
    const values = valuesOf(newer);
    const refused = (valuesOf(older) ?? (values === undefined ? [] : ['others'])).filter(
      (each) => !values?.includes(each),
    );
    const required = namesIn(newer.required).filter((name) => !namesIn(older.required).includes(name));
    const closed = newer.additionalProperties === false && older.additionalProperties !== false;
    return [
      ...[...stricter.map(([keyword]) => keyword), ...fixed].map(
        (keyword) => `${place}: ${keyword} is stricter`,
      ),
      ...(values === undefined ? [] : refused.map((value) => `${place}: ${String(value)} is refused now`)),
      ...required.map((name) => `${place}.${name} is required now`),
      ...(closed ? [`${place}: further fields are refused now`] : []),
      ...typeChange(place, older, newer),
      ...this.#deeper(place, older, newer, (...schemas) => this.#request(...schemas)),
    ];
  }

  /** Checks that replies still have everything. */
  #answer(place: string, olderPart: Json, newerPart: Json): readonly string[] {
    const [older, newer] = [this.#in(this.#older, olderPart), this.#in(this.#newer, newerPart)];
    const lostNames = namesIn(older.required).filter((name) => !namesIn(newer.required).includes(name));
    return [
      ...lostNames.map((name) => `${place}.${name} may be left out now`),
      ...typeChange(place, older, newer),
      ...this.#deeper(place, older, newer, (...schemas) => this.#answer(...schemas)),
    ];
  }

  #deeper(
    place: string,
    older: Json,
    newer: Json,
    compare: (place: string, older: Json, newer: Json) => readonly string[],
  ): readonly string[] {
    const properties = Object.entries(part(older, 'properties')).flatMap(([name, schema]) => {
      const other = part(newer, 'properties')[name];
      return other === undefined
        ? [`${place}.${name} is gone`]
        : compare(`${place}.${name}`, schema as Json, other as Json);
    });
    const items =
      older.items === undefined ? [] : compare(`${place}[]`, part(older, 'items'), part(newer, 'items'));
    const alternatives = ['anyOf', 'oneOf', 'allOf'].flatMap((keyword) => {
      const newerParts = (newer[keyword] ?? []) as readonly Json[];
      return ((older[keyword] ?? []) as readonly Json[]).flatMap((each, index) => {
        const found = newerParts.map((other) => compare(`${place} ${keyword} ${index}`, each, other));
        if (found.some((changes) => changes.length === 0)) return [];
        return found[index] ?? [`${place}: ${keyword} ${index} is gone`];
      });
    });
    return [...properties, ...items, ...alternatives];
  }

  /** Returns the schema, parameter or reply itself, if a reference names it. */
  #in(document: Json, value: unknown): Json {
    const { $ref } = value as { readonly $ref?: string };
    if ($ref === undefined) return value as Json;
    const found = $ref
      .slice(2)
      .split('/')
      .reduce((place, name) => part(place, name), document);
    return this.#in(document, found);
  }
}

function part(value: Json, name: string): Json {
  return (value[name] ?? {}) as Json;
}

function isStricter(older: unknown, newer: unknown, smaller: boolean): boolean {
  if (typeof newer !== 'number') return false;
  return typeof older !== 'number' || (smaller ? newer < older : newer > older);
}

/** True if the value is the older one, or a pattern of lists of names that has a name more. */
function isKept(older: unknown, newer: unknown): boolean {
  if (typeof older !== 'string' || typeof newer !== 'string') return older === newer;
  const names = (pattern: string): readonly string[] => pattern.split(/[|()]+/);
  const [were, are] = [names(older), names(newer)];
  const isList = were.filter((name) => /^[a-z_\\.]+$/.test(name)).length > 2;
  return older === newer || (isList && were.every((name) => are.includes(name)));
}

/** Undefined where any value may stand. */
function valuesOf({ enum: values, const: only }: Json): readonly unknown[] | undefined {
  return only === undefined ? (values as readonly unknown[] | undefined) : [only];
}

function namesIn(required: unknown): readonly string[] {
  return (required ?? []) as readonly string[];
}

function typeChange(place: string, older: Json, newer: Json): readonly string[] {
  const types = ({ type }: Json): string => (Array.isArray(type) ? [...type].sort().join('|') : String(type));
  if (older.type === undefined || types(older) === types(newer)) return [];
  return [`${place}: its type was ${types(older)} and is ${types(newer)}`];
}
