/** The line of a test loses and doubles published messages, and nothing else. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { published, subscribes } from '../stack/bus-line.ts';

const message = (payload: string): string =>
  `*3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$${payload.length}\r\n${payload}\r\n`;
const through = (text: string, fault: 'lost' | 'doubled'): string =>
  published(Buffer.from(text), fault).toString();

test('the line loses or doubles published messages, even several in one piece', () => {
  const two = message('one\r\n$3') + message('two');
  assert.equal(through(two, 'lost'), '');
  assert.equal(through(two, 'doubled'), two + two);
});

test('replies and parts of messages pass unchanged', () => {
  for (const text of ['+PONG\r\n', message('one').slice(0, -3), `${message('one')}+PONG\r\n`]) {
    assert.equal(through(text, 'lost'), text);
    assert.equal(through(text, 'doubled'), text);
  }
});

test('the connection on which a node listens is known by its commands', () => {
  assert.ok(subscribes(Buffer.from('*2\r\n$9\r\nsubscribe\r\n$4\r\nnews\r\n')));
  assert.ok(!subscribes(Buffer.from('*3\r\n$7\r\npublish\r\n$4\r\nnews\r\n$9\r\nsubscribe\r\n')));
});
