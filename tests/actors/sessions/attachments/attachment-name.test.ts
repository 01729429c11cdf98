import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attachmentName } from '../../../../actors/sessions/worker-thread/attachments/attachment-name.ts';

const named = (disposition: string | undefined, path = '/files/42', contentType = 'text/x-other'): string =>
  attachmentName({ disposition, url: new URL(path, 'http://files.test'), contentType });

test('a file has the name that its server gives it, the extended one first', () => {
  for (const [disposition, name] of [
    ['attachment; filename=price-list.pdf', 'price-list.pdf'],
    ['attachment; filename="price list (1).pdf"', 'price list (1).pdf'],
    ['inline; filename="a; filename*=UTF-8\'\'b.pdf"', "a; filename_=UTF-8''b.pdf"],
    ['attachment; filename="menu.pdf"; filename*=UTF-8\'\'caf%C3%A9%20menu.pdf', 'café menu.pdf'],
    ["attachment; filename*=iso-8859-1''caf%E9.pdf", 'café.pdf'],
    ["attachment; filename*=UTF-8''%FF.pdf; filename=plain.pdf", 'plain.pdf'],
    [Buffer.from('attachment; filename="café.pdf"').toString('latin1'), 'café.pdf'],
    ['attachment; filename="caf\u00e9.pdf"', 'café.pdf'],
    [
      "attachment; filename*=UTF-8''r%C3%A9sum%C3%A9%20%F0%9F%98%80%20%E2%80%93%205%E2%82%AC.pdf",
      'résumé 😀 – 5€.pdf',
    ],
    ['attachment; filename="Jenny\'s menu.pdf"', "Jenny's menu.pdf"],
    ["attachment; filename*=UTF-8''%D9%85%DB%8C%E2%80%8C%D8%B1%D9%88%D9%85.pdf", 'می\u200cروم.pdf'],
    ['attachment; filename="say \\"hi\\".pdf"', 'say _hi_.pdf'],
  ] as const)
    assert.equal(named(disposition), name, disposition);
});

test('if the server gives no name, the name is the last part of the address', () => {
  assert.equal(named(undefined, '/a/caf%C3%A9%20menu.pdf?x=y.z'), 'café menu.pdf');
  assert.equal(named('attachment', '/a/b.pdf'), 'b.pdf');
  assert.equal(named('attachment; filename=""', '/%FF.pdf'), '_FF.pdf');
  assert.equal(named(undefined, '/'), 'document');
});

test('a name has no path, and no character that reverses text', () => {
  assert.equal(named('attachment; filename="../../etc/passwd"'), 'passwd');
  assert.equal(named('attachment; filename="C:\\\\invoice.pdf"'), 'invoice.pdf');
  assert.equal(named("attachment; filename*=UTF-8''a%E2%80%AEfdp.exe%00%0A"), 'a_fdp.exe__');
  assert.equal(named('attachment; filename=".."', '/x'), 'x');
});

test('the ending comes from the type if the name has none', () => {
  assert.equal(named(undefined, '/files/42', 'application/pdf'), '42.pdf');
  assert.equal(named(undefined, '/', 'image/webp'), 'document.webp');
  assert.equal(named(undefined, '/price-list', 'text/html'), 'price-list.html');
  assert.equal(named('attachment; filename=menu.pdf', '/', 'application/msword'), 'menu.pdf');
});

test('a long name keeps its ending and is not cut inside a character', () => {
  const name = named(`attachment; filename*=UTF-8''${encodeURIComponent('𠮷'.repeat(300))}.pdf`);
  assert.equal(name, `${'𠮷'.repeat(96)}.pdf`);
});

test('a header of any length is read at once', () => {
  for (const part of ['"', '; filename', '\\', "; filename*=utf-8'", ' ', '"\\'])
    assert.equal(typeof named(`a${part.repeat(16_000 / part.length)}`), 'string');
});
