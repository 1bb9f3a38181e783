import { describe, expect, it } from 'vitest';
import { checkModelHeaders, headersForOtherOrigin, withServerQuery } from '../../src/net/headers.ts';
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

describe('the query of a server', () => {
  const secret = async (name: string, host: string): Promise<string> => {
    if (host !== 'api.example.com:443') throw new Error(`bound to another host than ${host}`);
    return `value of ${name}&#/?`;
  };

  it('is appended, encoded, to a URL whose other parameters stay as they are', async () => {
    const url = 'https://api.example.com/v1?ids=a%20b,c&flag';
    expect(await withServerQuery(url, { team: 'a/b', 'k[]': { secret: 'KEY' } }, secret)).toBe(
      'https://api.example.com/v1?ids=a%20b,c&flag&team=a%2Fb&k%5B%5D=value%20of%20KEY%26%23%2F%3F',
    );
    expect(await withServerQuery('https://api.example.com/', {}, secret)).toBe('https://api.example.com/');
  });

  it('replaces a parameter that a model has set', async () => {
    const url = 'https://api.example.com/?key=mine&key=again&q=1';
    const sent = new URL(await withServerQuery(url, { key: { secret: 'KEY' } }, secret));
    expect(sent.searchParams.getAll('key')).toEqual(['value of KEY&#/?']);
    expect(sent.searchParams.get('q')).toBe('1');
  });

  it('gets a secret only for the host of the URL', async () => {
    await expect(withServerQuery('https://other.example.com/', { key: { secret: 'KEY' } }, secret)).rejects.toThrow('another host');
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
