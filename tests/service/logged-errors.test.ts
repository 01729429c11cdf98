/** Errors that contain stored text, through the service's log and as operators see them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeError, errorText } from '../../runtime/described-error.ts';
import { FailedWrite } from '../../runtime/ownership/commitment.ts';
import { RuntimeFailure } from '../../runtime/runtime-failure.ts';
import { makeLogger } from '../../service/process-log.ts';
import { counterAddress } from '../runtime/counter-behaviour.ts';
import { memoryNode } from '../runtime/memory-node.ts';

const SECRET = 'Dear Ann';
const address = counterAddress('one');

/** Returns the error of a stored text that is no JSON. V8 quotes the text. */
function parseError(): SyntaxError {
  try {
    JSON.parse(SECRET);
  } catch (error) {
    if (error instanceof SyntaxError && error.message.includes(SECRET)) return error;
  }
  return assert.fail('it did not throw, or did not quote');
}

/** Returns that error as the cause of one among several errors, next to a failure whose message is ours. */
function nestedError(): Error {
  const reading = new Error(`no state in ${SECRET}`, { cause: parseError() });
  const refused = Object.assign(new Error(`WRONGTYPE ${SECRET}`), { command: { args: [SECRET] } });
  refused.name = 'ReplyError';
  return new AggregateError([reading, refused, new RuntimeFailure('NODE_BUSY', 'no slot is free')], SECRET);
}

/** Returns a node whose actors throw while they load or decide, and what its log has. */
async function crashingNode(error: () => Error, place: 'load' | 'turn') {
  const lines: string[] = [];
  const log = makeLogger({ level: 'debug', stream: { write: (line) => void lines.push(line) } });
  const hooks = {
    loading() {
      if (place === 'load') throw error();
    },
    readingFacts: () => {
      throw error();
    },
  };
  const { node, outcome } = await memoryNode({ hooks, log });
  await outcome(node.actors.ask(address, { type: 'read' }));
  return { node, outcome, line: lines.find((line) => line.includes('an actor crashed"')) ?? '' };
}

test('the crash of an actor is logged by class, code and frames, without stored text, at every depth', async () => {
  const { line, node } = await crashingNode(nestedError, 'load');
  const { err } = JSON.parse(line) as { readonly err: ReturnType<typeof describeError> };
  const [reading, refused, busy] = err.aggregateErrors ?? [];
  assert.deepEqual(
    [err.type, reading?.type, reading?.cause?.type, refused?.code, busy?.code, busy?.message],
    ['AggregateError', 'Error', 'SyntaxError', 'WRONGTYPE', 'NODE_BUSY', 'no slot is free'],
  );
  assert.match(reading?.cause?.stack ?? '', /^ {4}at JSON\.parse .*\n {4}at parseError /);
  assert.doesNotMatch(line, /Ann/);
  const { message = '' } = node.actors.snapshot(address)?.lastError ?? {};
  assert.match(message, /^AggregateError at nestedError \(.*logged-errors\.test\.[jt]s:\d+:\d+\)$/);
});

test('a dead letter names the class of the error and the first frame of the program, without stored text', async () => {
  const { line, node, outcome } = await crashingNode(parseError, 'turn');
  const [letter] = (await outcome(node.deadLetters.list())) as { readonly cause: string }[];
  assert.match(letter?.cause ?? '', /^SyntaxError at parseError \(.*logged-errors\.test\.[jt]s:\d+:\d+\)$/);
  assert.match(line, /"type":"SyntaxError"/);
  assert.doesNotMatch(line, /Ann/);
});

test('an error that is its own cause, and very many errors in one, are described once and in part', () => {
  const own = new Error('a');
  own.cause = own;
  assert.equal(describeError(own).cause, undefined);
  const many = new AggregateError(Array.from({ length: 1_000 }, () => new Error('b')));
  assert.equal(describeError(many).aggregateErrors?.length, 19);
});

test('an operator gets code and message of an error that is ours, and of a thrown value the type', () => {
  assert.equal(errorText(new RuntimeFailure('NODE_BUSY', 'no slot')), 'no slot (NODE_BUSY)');
  assert.equal(errorText(new FailedWrite(`WRONGTYPE ${SECRET}`)), 'a write failed (WRONGTYPE)');
  assert.equal(errorText(SECRET), 'string');
});
