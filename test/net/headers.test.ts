import { describe, expect, it } from 'vitest';
import { checkModelHeaders, headersForOtherOrigin } from '../../src/net/headers.ts';
import { describeCorpus, readJson, readJsonLines } from '../fixtures.ts';

describe('headers of a call', () => {
  it('names the header and what is wrong with it', () => {
    expect(checkModelHeaders({ Authorization: 'Bearer x', accept: 'text/html' })).toEqual([
      { path: 'headers["Authorization"]', message: expect.stringContaining('by the operator') },
    ]);
    expect(checkModelHeaders({ Host: 'a' })[0]?.message).toContain('accept');
  });

  it('are bounded in number', () => {
    const many = Object.fromEntries(Array.from({ length: 33 }, (_, index) => [`x-h${index}`, '1']));
    expect(checkModelHeaders(many)).toHaveLength(1);
  });

  it('keep no possible credential for another origin', () => {
    const kept = headersForOtherOrigin(
      new Headers({ authorization: 'a', cookie: 'b', 'x-custom-key': 'c', accept: 'd', 'content-type': 'e' }),
    );
    expect([...kept.keys()]).toEqual(['accept']);
  });
});

type Row = { id: string; class: string; header: { name: string; value: string }; expect: string };

describeCorpus('security/headers.jsonl', (path) => {
  it('has the verdict of each row that concerns a model', () => {
    const classes = ['value', 'value-ok', 'value-long', 'name', 'model-must-not-set', 'model-may-set', 'credential'];
    const rows = readJsonLines<Row>(path).filter((row) => classes.includes(row.class));
    expect(rows.length).toBe(75);
    const wrong = rows.filter(
      (row) => (row.expect === 'allow') !== (checkModelHeaders({ [row.header.name]: row.header.value }).length === 0),
    );
    expect(wrong).toEqual([]);
  });
});

describeCorpus('security/crlf-payloads.json', (path) => {
  it('adds no header and no body to a request, as a value or in a URL', async () => {
    for (const payload of readJson<{ payloads: string[] }>(path).payloads) {
      for (const value of [payload, decode(payload)]) {
        if (checkModelHeaders({ 'x-note': value }).length > 0) continue;
        const request = new Request(`https://example.com/?q=${value}`, { headers: { 'x-note': value } });
        expect([...request.headers.keys()]).toEqual(['x-note']);
        expect(request.headers.get('x-note')).toBe(value.trim());
        expect(request.body).toBeNull();
        expect(request.url).not.toMatch(/[\r\n]/);
      }
    }
  });
});

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // Some payloads are broken escapes on purpose: they are used literally.
    return text;
  }
}
