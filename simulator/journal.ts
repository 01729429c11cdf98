import { createReadStream } from 'node:fs';
import { type FileHandle, mkdir, open, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { BufferJSON } from '@whiskeysockets/baileys';

/** Named values of one kind. Reads are from memory. Writes reach the disk later, in order. */
export interface Collection<Value> {
  get(key: string): Value | undefined;
  /** Stores the value. Change it afterwards only by another `set`. */
  set(key: string, value: Value): void;
  delete(key: string): void;
  entries(): IterableIterator<[string, Value]>;
  readonly size: number;
}

/** The file is rewritten after this many appended lines if most of them are dead. */
const COMPACT_AFTER_LINES = 200_000;

/** A text has at most half a gigabyte, and millions of lines may be appended at once. */
const MOST_LINES_JOINED = 100_000;

/**
 * Everything the simulator remembers, in one append-only file of JSON lines. A line is `[collection, key, value]`,
 * without the value if the key was deleted. The file is read at the start and rewritten when most of it is dead.
 *
 * Values that were `set` before `settled()` resolves survive the death of the process. They may not survive the death
 * of the host, because nothing is fsynced. Every frame to a client waits for `settled()`, so the network never shows
 * anything that it could forget.
 */
export class Journal {
  readonly #path: string;
  readonly #collections = new Map<string, Map<string, unknown>>();
  #file: FileHandle | undefined;
  #lines: string[] = [];
  #queued: Promise<void> | undefined;
  #tail: Promise<void> = Promise.resolve();
  #appendedLines = 0;

  private constructor(path: string) {
    this.#path = path;
  }

  /** Reads the journal in `directory`, which is created if missing. A torn last line is dropped. */
  static async open(directory: string): Promise<Journal> {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const journal = new Journal(join(directory, 'network.jsonl'));
    await journal.#load();
    await journal.#rewrite();
    return journal;
  }

  /** Returns the collection of that name. `Value` is not checked on reading. */
  collection<Value>(name: string): Collection<Value> {
    const values = this.#valuesOf(name) as Map<string, Value>;
    return {
      get: (key) => values.get(key),
      set: (key, value) => {
        values.set(key, value);
        this.#append([name, key, value]);
      },
      delete: (key) => {
        if (values.delete(key)) this.#append([name, key]);
      },
      entries: () => values.entries(),
      get size() {
        return values.size;
      },
    };
  }

  /** Resolves once the operating system has every value that was set so far. */
  settled(): Promise<void> {
    return this.#tail;
  }

  /** Writes what is left and closes the file. */
  async close(): Promise<void> {
    await this.#tail;
    await this.#file?.close();
    this.#file = undefined;
  }

  #valuesOf(name: string): Map<string, unknown> {
    const values = this.#collections.get(name) ?? new Map<string, unknown>();
    this.#collections.set(name, values);
    return values;
  }

  #append(entry: readonly unknown[]): void {
    this.#lines.push(`${JSON.stringify(entry, BufferJSON.replacer)}\n`);
    if (this.#queued !== undefined) return;
    // One write takes everything set in the same tick of the event loop, or while the previous batch is written.
    this.#queued = this.#tail.then(nextTurn).then(() => this.#writeBatch());
    this.#tail = this.#queued;
  }

  async #writeBatch(): Promise<void> {
    this.#queued = undefined;
    const lines = this.#lines;
    this.#lines = [];
    if (!this.#file) return; // A write after the close is dropped.
    for (let start = 0; start < lines.length; start += MOST_LINES_JOINED)
      await this.#file.appendFile(lines.slice(start, start + MOST_LINES_JOINED).join(''));
    this.#appendedLines += lines.length;
    if (this.#appendedLines > COMPACT_AFTER_LINES && this.#appendedLines > 3 * this.#liveCount())
      await this.#rewrite();
  }

  #liveCount(): number {
    let count = 0;
    for (const values of this.#collections.values()) count += values.size;
    return count;
  }

  async #load(): Promise<void> {
    let input: FileHandle;
    try {
      input = await open(this.#path, 'r');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
      throw error;
    }
    await input.close();
    const lines = createInterface({
      input: createReadStream(this.#path),
      crlfDelay: Number.POSITIVE_INFINITY,
    });
    let tornLine: string | undefined;
    for await (const line of lines) {
      if (tornLine !== undefined)
        throw new Error(`${this.#path} is damaged before its end; move it away to start with an empty one`);
      const entry = parseLine(line);
      if (!entry) {
        tornLine = line;
        continue;
      }
      const [name, key, value] = entry;
      if (entry.length === 2) this.#valuesOf(name).delete(key);
      else this.#valuesOf(name).set(key, value);
    }
  }

  /** Writes the live values to a new file, which then replaces the old one. */
  async #rewrite(): Promise<void> {
    const temporaryPath = `${this.#path}.new`;
    const replacement = await open(temporaryPath, 'w', 0o600);
    for (const [name, values] of this.#collections) {
      let chunk: string[] = [];
      for (const [key, value] of [...values]) {
        chunk.push(`${JSON.stringify([name, key, value], BufferJSON.replacer)}\n`);
        if (chunk.length === 1_000) {
          await replacement.appendFile(chunk.join(''));
          chunk = [];
        }
      }
      await replacement.appendFile(chunk.join(''));
    }
    await rename(temporaryPath, this.#path);
    await this.#file?.close();
    this.#file = replacement;
    this.#appendedLines = 0;
  }
}

function parseLine(line: string): [string, string, unknown?] | undefined {
  try {
    const entry: unknown = JSON.parse(line, BufferJSON.reviver);
    return Array.isArray(entry) ? (entry as [string, string, unknown?]) : undefined;
  } catch {
    return undefined;
  }
}
